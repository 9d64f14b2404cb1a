#include "runtime/elf_note.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace heddle {
namespace {

// What this process itself is: only such a library can be loaded into it.
#if defined(__x86_64__)
constexpr int kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kMachine = EM_AARCH64;
#else
constexpr int kMachine = EM_NONE;
#endif

constexpr std::size_t kMaxNoteBytes = 64 << 10;  // a build id note has 36 bytes

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t index = 0; index < count; ++index) {
    text += kDigits[bytes[index] >> 4];
    text += kDigits[bytes[index] & 15];
  }
  return text;
}

std::size_t align4(std::size_t size) {
  return (size + 3) & ~std::size_t{3};
}

/// Walks one note segment; empty if it holds no build id.
std::string build_id_in_notes(const unsigned char* notes, std::size_t size) {
  std::size_t offset = 0;
  while (size >= sizeof(ElfW(Nhdr)) && offset <= size - sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + offset, sizeof header);
    const std::size_t name = offset + sizeof header;
    const std::size_t description = name + align4(header.n_namesz);
    if (description > size || header.n_descsz > size - description) return {};
    const bool gnu = header.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0;
    if (gnu && header.n_type == NT_GNU_BUILD_ID) {
      return hexadecimal(notes + description, header.n_descsz);
    }
    offset = description + align4(header.n_descsz);
  }
  return {};
}

bool loadable_here(const ElfW(Ehdr) & header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == (sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32) &&
         header.e_machine == kMachine && header.e_type == ET_DYN &&
         header.e_phentsize == sizeof(ElfW(Phdr));
}

bool read_at(std::ifstream& file, std::uint64_t offset, void* target, std::size_t size) {
  file.seekg(static_cast<std::streamoff>(offset));
  return static_cast<bool>(
      file.read(static_cast<char*>(target), static_cast<std::streamsize>(size)));
}

struct LoadedSearch {
  ElfW(Addr) address;
  std::string build_id;
};

bool contains(const dl_phdr_info& module, ElfW(Addr) address) {
  for (int index = 0; index < module.dlpi_phnum; ++index) {
    const ElfW(Phdr)& segment = module.dlpi_phdr[index];
    const ElfW(Addr) begin = module.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

int visit_module(dl_phdr_info* module, std::size_t, void* opaque) {
  auto& search = *static_cast<LoadedSearch*>(opaque);
  if (!contains(*module, search.address)) return 0;
  for (int index = 0; index < module->dlpi_phnum && search.build_id.empty(); ++index) {
    const ElfW(Phdr)& segment = module->dlpi_phdr[index];
    if (segment.p_type != PT_NOTE) continue;
    const auto* notes = reinterpret_cast<const unsigned char*>(module->dlpi_addr + segment.p_vaddr);
    search.build_id = build_id_in_notes(notes, segment.p_memsz);
  }
  return 1;
}

}  // namespace

std::optional<std::string> file_build_id(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  ElfW(Ehdr) header;
  if (!file || !read_at(file, 0, &header, sizeof header) || !loadable_here(header)) {
    return std::nullopt;
  }
  for (int index = 0; index < header.e_phnum; ++index) {
    ElfW(Phdr) segment;
    if (!read_at(file, header.e_phoff + index * sizeof segment, &segment, sizeof segment)) {
      return std::nullopt;  // cut short
    }
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMaxNoteBytes) continue;
    std::vector<unsigned char> notes(segment.p_filesz);
    if (!read_at(file, segment.p_offset, notes.data(), notes.size())) return std::nullopt;
    std::string build_id = build_id_in_notes(notes.data(), notes.size());
    if (!build_id.empty()) return build_id;
  }
  return std::string();
}

std::string loaded_build_id(const void* address) {
  LoadedSearch search{reinterpret_cast<ElfW(Addr)>(address), {}};
  dl_iterate_phdr(visit_module, &search);
  return search.build_id;
}

}  // namespace heddle

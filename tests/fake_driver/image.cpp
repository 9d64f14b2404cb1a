// Which kernels an image holds, and how large their parameters are.

#include <elf.h>

#include <cstring>
#include <sstream>

#include "tests/fake_driver/state.hpp"

namespace heddle::fake {
namespace {

constexpr const char kManifest[] =
    "\x7f"
    "ELF heddle-fake\n";

/// From the banner of the source that a fake NVRTC puts behind the manifest.
std::string variant_of(const std::string& text) {
  const std::string kBanner = "// variant: ";
  const std::size_t found = text.find(kBanner);
  if (found == std::string::npos) return {};
  const std::size_t start = found + kBanner.size();
  const std::string variant = text.substr(start, text.find('\n', start) - start);
  return variant.front() == '(' ? std::string() : variant;
}

std::vector<std::unique_ptr<Function>> parse_manifest(const char* text) {
  std::vector<std::unique_ptr<Function>> functions;
  std::istringstream lines(text);
  auto function = std::make_unique<Function>();
  while (lines >> function->name >> function->parameter_bytes) {
    function->variant = variant_of(text);
    functions.push_back(std::exchange(function, std::make_unique<Function>()));
  }
  return functions;
}

/// The section table of a cubin, which is an ordinary 64-bit ELF file.
class Cubin {
 public:
  explicit Cubin(const char* image) : image_(image) {
    std::memcpy(&header_, image, sizeof header_);
  }

  int section_count() const { return header_.e_shnum; }
  Elf64_Shdr section(int index) const {
    Elf64_Shdr result;
    std::memcpy(&result, image_ + header_.e_shoff + std::size_t{header_.e_shentsize} * index,
                sizeof result);
    return result;
  }
  std::string name(const Elf64_Shdr& section_header) const {
    return image_ + section(header_.e_shstrndx).sh_offset + section_header.sh_name;
  }
  const char* data(const Elf64_Shdr& section_header) const {
    return image_ + section_header.sh_offset;
  }

 private:
  const char* image_;
  Elf64_Ehdr header_;
};

/// Reads EIATTR_CBANK_PARAM_SIZE of a .nv.info section: entries of {format, attribute, 16 bits},
/// where format 4 puts that many more bytes behind.
unsigned parameter_bytes(const char* info, std::size_t size) {
  constexpr unsigned char kSizedFormat = 4;
  constexpr unsigned char kParameterSize = 0x19;
  for (std::size_t offset = 0; offset + 4 <= size;) {
    unsigned char entry[4];
    std::memcpy(entry, info + offset, sizeof entry);
    const unsigned value = entry[2] | unsigned{entry[3]} << 8;
    if (entry[1] == kParameterSize) return value;
    offset += 4 + (entry[0] == kSizedFormat ? value : 0);
  }
  return 0;
}

std::vector<std::unique_ptr<Function>> parse_cubin(const char* image) {
  const std::string kText = ".text.";
  const std::string kInfo = ".nv.info.";
  const Cubin cubin(image);
  std::map<std::string, unsigned> sizes;
  std::vector<std::unique_ptr<Function>> functions;
  for (int i = 0; i < cubin.section_count(); ++i) {
    const Elf64_Shdr section = cubin.section(i);
    const std::string name = cubin.name(section);
    if (name.rfind(kInfo, 0) == 0) {
      sizes[name.substr(kInfo.size())] = parameter_bytes(cubin.data(section), section.sh_size);
    }
    if (name.rfind(kText, 0) != 0) continue;
    functions.push_back(std::make_unique<Function>());
    functions.back()->name = name.substr(kText.size());
  }
  for (const auto& function : functions) function->parameter_bytes = sizes[function->name];
  return functions;
}

}  // namespace

std::vector<std::unique_ptr<Function>> parse_image(const void* image) {
  const char* text = static_cast<const char*>(image);
  if (std::strncmp(text, kManifest, sizeof kManifest - 1) == 0) {
    return parse_manifest(text + sizeof kManifest - 1);
  }
  constexpr unsigned char k64Bit = 2;
  if (std::strncmp(text,
                   "\x7f"
                   "ELF",
                   4) != 0 ||
      text[EI_CLASS] != k64Bit)
    return {};
  return parse_cubin(text);
}

}  // namespace heddle::fake

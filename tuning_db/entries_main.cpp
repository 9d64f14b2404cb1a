// A file of entries/ to the form that is embedded, run by the build: what is wrong in it ends that.
#include <fstream>
#include <iostream>
#include <sstream>

#include "tuning_db/packed_rows.hpp"
#include "tuning_db/results_store.hpp"

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: " << arguments[0] << " ENTRIES.yaml OUTPUT\n";
    return 2;
  }
  try {
    std::stringstream text;
    text << std::ifstream(arguments[1]).rdbuf();
    const auto rows = heddle::import_yaml(text.str(), arguments[1]);
    std::ofstream output(arguments[2], std::ios::binary);
    output << heddle::pack_rows(rows);
    if (output.flush()) return 0;
    std::cerr << arguments[2] << ": cannot be written\n";
  } catch (const heddle::Error& error) {
    std::cerr << error.what() << '\n';
  }
  return 1;
}

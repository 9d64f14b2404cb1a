// search_space.yaml to a C++ source, run by the build.
#include <fstream>
#include <iostream>
#include <sstream>

#include "generator/error.hpp"
#include "generator/search_space_reader.hpp"

int main(int count, char** arguments) {
  if (count != 3) {
    std::cerr << "usage: " << arguments[0] << " search_space.yaml OUTPUT.cpp\n";
    return 2;
  }
  try {
    std::stringstream text;
    text << std::ifstream(arguments[1]).rdbuf();
    const auto knobs = heddle::read_search_space(text.str(), arguments[1]);
    std::ofstream output(arguments[2], std::ios::binary);
    output << heddle::search_space_source(knobs);
    if (output.flush()) return 0;
    std::cerr << arguments[2] << ": cannot be written\n";
  } catch (const heddle::Error& error) {
    std::cerr << error.what() << '\n';
  }
  return 1;
}

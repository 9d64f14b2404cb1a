#pragma once
// A window into a shared tile, for warps that own only some of its rows or columns.

namespace heddle {

/// The tile as seen from (first_row, first_column) on.
template <class Tile>
struct TileView {
  static constexpr int kRows = Tile::kRows;

  const Tile& tile;
  int first_row;
  int first_column;

  static constexpr int offset(int row, int column) { return Tile::offset(row, column); }
  auto* at(int row, int column) const { return tile.at(first_row + row, first_column + column); }
};

template <class Tile>
inline TileView<Tile> view_from(const Tile& tile, int first_row, int first_column) {
  return {tile, first_row, first_column};
}

}  // namespace heddle

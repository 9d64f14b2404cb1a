#pragma once
// Which query, and of which head, a row of a query tile is.
//
// A tile holds queries of one head; or, packed, those of several heads that share keys and values,
// whose rows lie side by side: the heads of one query, then those of the next. Rows so stay in the
// order of what a causal mask shows them.

namespace heddle {

/// A row of a packed tile.
struct PackedRow {
  int first_query;  ///< the tile's
  int row;          ///< of the tile
  int heads;        ///< side by side
};

/// The query `row` rows after one; of a tile of one head rows are named by their query.
inline int query_at(int first_query, int row) {
  return first_query + row;
}
inline int query_at(const PackedRow& first, int row) {
  return first.first_query + (first.row + row) / first.heads;
}

/// Its head, from the tile's first one on.
inline int head_at(int /*first_query*/, int /*row*/) {
  return 0;
}
inline int head_at(const PackedRow& first, int row) {
  return (first.row + row) % first.heads;
}

}  // namespace heddle

#include "tuning_db/schema.hpp"

namespace heddle {
namespace {

// One row per measurement, prediction or failure; rows are never changed. variant, bucket, sizes,
// device, config and check_record are canonical texts ("name=value,…", defaults left out); the
// *_hash columns are the 128-bit hashes of those texts and exist to be searched. checksum covers
// the whole row, so that damage makes a row invisible and the same row is stored once.
constexpr const char* kResultsVersion1 = R"sql(
CREATE TABLE measurements (
  id INTEGER PRIMARY KEY,
  checksum TEXT NOT NULL UNIQUE,
  variant_hash TEXT NOT NULL,
  bucket_hash TEXT NOT NULL,
  device_hash TEXT NOT NULL,
  config_hash TEXT NOT NULL,
  "variant" TEXT NOT NULL,
  "bucket" TEXT NOT NULL,
  "sizes" TEXT NOT NULL,
  "device" TEXT NOT NULL,
  "device_name" TEXT NOT NULL,
  "config" TEXT NOT NULL,
  "evidence" TEXT NOT NULL,
  "median_seconds" REAL NOT NULL,
  "spread_seconds" REAL NOT NULL,
  "samples" INTEGER NOT NULL,
  "clock_mhz" REAL NOT NULL,
  "failure" TEXT NOT NULL,
  "check_record" TEXT,
  "driver_version" TEXT NOT NULL,
  "nvrtc_version" TEXT NOT NULL,
  "heddle_version" TEXT NOT NULL,
  "source_hash" TEXT NOT NULL,
  "when" TEXT NOT NULL,
  "command" TEXT NOT NULL
);
CREATE INDEX measurements_by_question
  ON measurements (variant_hash, device_hash, bucket_hash);
)sql";

constexpr const char* kResultsVersion2 = R"sql(
ALTER TABLE measurements ADD COLUMN "chosen" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "relative" REAL NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "interval_seconds" REAL NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "noise" REAL NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "elapsed_seconds" REAL NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "warm" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "registers" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "spill_bytes" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE measurements ADD COLUMN "tuning" TEXT NOT NULL DEFAULT '';
ALTER TABLE measurements ADD COLUMN "timings" TEXT NOT NULL DEFAULT '';
)sql";

// A failed check counts in every bucket: the few such rows are found without reading the others.
constexpr const char* kResultsVersion3 = R"sql(
CREATE INDEX IF NOT EXISTS measurements_by_failed_check
  ON measurements (variant_hash, device_hash)
  WHERE substr(check_record, 1, 11) <> 'passed=true';
)sql";

// The blob comes last, so that the small columns are read without walking its pages.
constexpr const char* kCubinsVersion1 = R"sql(
CREATE TABLE cubins (
  key TEXT PRIMARY KEY,
  checksum TEXT NOT NULL,
  entry TEXT NOT NULL,
  notes TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  last_used INTEGER NOT NULL,
  code BLOB NOT NULL
);
CREATE INDEX cubins_by_age ON cubins (last_used, bytes);
)sql";

constexpr const char* kResultsMigrations[] = {kResultsVersion1, kResultsVersion2, kResultsVersion3};
constexpr const char* kCubinMigrations[] = {kCubinsVersion1};

}  // namespace

const Schema& results_schema() {
  static constexpr Schema schema{0x68646c52, kResultsMigrations, "FULL"};  // "hdlR"
  return schema;
}

const Schema& cubin_schema() {
  static constexpr Schema schema{0x68646c43, kCubinMigrations, "NORMAL"};  // "hdlC"
  return schema;
}

}  // namespace heddle

/* Prints the layout of every struct of heddle.h as JSON, for the comparison with bench/'s. */
#include <heddle/heddle.h>
#include <stdio.h>

#define BEGIN(name) printf("\"%s\": {\"\": %zu", #name, sizeof(heddle_##name))
#define FIELD(name, field) printf(", \"%s\": %zu", #field, offsetof(heddle_##name, field))

static void print_problem(void) {
  BEGIN(problem);
  FIELD(problem, struct_size);
  FIELD(problem, batch);
  FIELD(problem, heads);
  FIELD(problem, kv_heads);
  FIELD(problem, seqlen_q);
  FIELD(problem, seqlen_kv);
  FIELD(problem, head_dim);
  FIELD(problem, head_dim_v);
  FIELD(problem, dtype);
  FIELD(problem, mask);
  FIELD(problem, scale);
  FIELD(problem, query_strides);
  FIELD(problem, key_strides);
  FIELD(problem, value_strides);
  FIELD(problem, output_strides);
  FIELD(problem, num_splits);
  FIELD(problem, features);
  FIELD(problem, direction);
  FIELD(problem, window_left);
  FIELD(problem, window_right);
  FIELD(problem, softcap);
  FIELD(problem, score_snippet);
  FIELD(problem, mask_snippet);
  FIELD(problem, output_dtype);
  FIELD(problem, scales);
  FIELD(problem, value_layout);
  FIELD(problem, reserved);
}

static void print_arguments(void) {
  BEGIN(arguments);
  FIELD(arguments, struct_size);
  FIELD(arguments, query);
  FIELD(arguments, key);
  FIELD(arguments, value);
  FIELD(arguments, output);
  FIELD(arguments, log_sum_exp);
  FIELD(arguments, workspace);
  FIELD(arguments, workspace_bytes);
  FIELD(arguments, cu_seqlens_q);
  FIELD(arguments, cu_seqlens_kv);
  FIELD(arguments, seqused_kv);
  FIELD(arguments, page_table);
  FIELD(arguments, bias);
  FIELD(arguments, alibi_slopes);
  FIELD(arguments, sinks);
  FIELD(arguments, query_descale);
  FIELD(arguments, key_descale);
  FIELD(arguments, value_descale);
  FIELD(arguments, value_mean);
  FIELD(arguments, log_sum_exp_shift);
}

static void print_quantiser(void) {
  BEGIN(quantiser);
  FIELD(quantiser, struct_size);
  FIELD(quantiser, dtype);
  FIELD(quantiser, steps);
  FIELD(quantiser, seed);
  FIELD(quantiser, reserved);
  FIELD(quantiser, query);
  FIELD(quantiser, key);
  FIELD(quantiser, value);
  FIELD(quantiser, query_strides);
  FIELD(quantiser, key_strides);
  FIELD(quantiser, value_strides);
}

static void print_options(void) {
  BEGIN(options);
  FIELD(options, struct_size);
  FIELD(options, driver_path);
  FIELD(options, nvrtc_path);
  FIELD(options, results_path);
  FIELD(options, cache_path);
  FIELD(options, flags);
  FIELD(options, allocate);
  FIELD(options, release);
  FIELD(options, allocator_user);
  FIELD(options, log);
  FIELD(options, log_user);
  FIELD(options, miss);
  FIELD(options, miss_user);
}

static void print_results(void) {
  BEGIN(prepare_result);
  FIELD(prepare_result, struct_size);
  FIELD(prepare_result, status);
  FIELD(prepare_result, match);
  FIELD(prepare_result, from_cache);
  FIELD(prepare_result, reserved);
  FIELD(prepare_result, milliseconds);
  printf("}, ");
  BEGIN(counters);
  FIELD(counters, struct_size);
  FIELD(counters, compiles);
  FIELD(counters, database_reads);
  FIELD(counters, hot_hits);
  FIELD(counters, misses);
}

int main(void) {
  printf("{\"version\": %d, ", HEDDLE_VERSION);
  print_problem();
  printf("}, ");
  print_arguments();
  printf("}, ");
  print_quantiser();
  printf("}, ");
  print_options();
  printf("}, ");
  print_results();
  printf("}}\n");
  return 0;
}

/* Stands for libnvrtc-builtins: only that it gets loaded matters. */
int heddle_fake_builtins(void) {
  return 13;
}

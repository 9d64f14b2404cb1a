#include "generator/explain/pipeline_program.hpp"

namespace heddle {
namespace {

class Program {
 public:
  explicit Program(const PipelinePlan& plan) : plan_(plan) {}

  /// templates/kernel/fa2.cuh, fa1.cuh and unfused's: a warp waits for each product.
  std::vector<Op> sequential() {
    const double share = 1.0 / plan_.substeps;
    for (int step = 0; step < plan_.steps; ++step) {
      await(Tensor::kKey, step);
      alone(Activity::kWait, step, plan_.wait);
      for (int i = 0; i < plan_.substeps; ++i) {
        product(Activity::kQueryKey, step, plan_.query_key * share);
        if (i + 1 == plan_.substeps && !plan_.keys_go_with_values) release(Tensor::kKey, step);
        if (i == 0) await(Tensor::kValue, step);
        softmax(step, plan_.softmax * share);
        alone(Activity::kExchange, step, plan_.exchange * share);
        product(Activity::kProbabilityValue, step, plan_.probability_value * share);
        alone(Activity::kStore, step, plan_.store * share);
      }
      if (plan_.keys_go_with_values) release(Tensor::kKey, step);
      release(Tensor::kValue, step);
    }
    return std::move(ops_);
  }

  /// templates/kernel/fa3.cuh, Consumer::attend.
  std::vector<Op> warpgroup() {
    for (int step = 0; step < plan_.steps; ++step) {
      await(Tensor::kKey, step);
      if (plan_.order == LoopOrder::kOverlapped) {
        start_beside(step);
      } else {
        start_in_turn(step);
      }
      release(Tensor::kKey, step);
      softmax(step, plan_.softmax);
      if (plan_.order == LoopOrder::kOverlapped && step > 0) end_value(step - 1);
      alone(Activity::kWait, step, plan_.wait);
    }
    await(Tensor::kValue, plan_.steps - 1);
    start(Activity::kProbabilityValue, plan_.steps - 1, plan_.probability_value);
    end_value(plan_.steps - 1);
    return std::move(ops_);
  }

 private:
  /// Q K^T of this tile is issued, and P V of the one before right behind it. The softmax waits for
  /// the former only, so that P V runs beside it.
  void start_beside(int step) {
    take_turn();
    start(Activity::kQueryKey, step, plan_.query_key);
    if (step > 0) {
      await(Tensor::kValue, step - 1);
      start(Activity::kProbabilityValue, step - 1, plan_.probability_value);
    }
    give_turn();
    ops_.push_back({Op::Kind::kAwaitProduct, step, Activity::kQueryKey});
  }

  /// Both products are over before the softmax begins.
  void start_in_turn(int step) {
    if (step > 0) await(Tensor::kValue, step - 1);
    take_turn();
    if (step > 0) {
      start(Activity::kProbabilityValue, step - 1, plan_.probability_value);
      end_value(step - 1);
    }
    start(Activity::kQueryKey, step, plan_.query_key);
    give_turn();
    ops_.push_back({Op::Kind::kAwaitProduct, step, Activity::kQueryKey});
  }

  void end_value(int step) {
    ops_.push_back({Op::Kind::kAwaitProduct, step, Activity::kProbabilityValue});
    release(Tensor::kValue, step);
  }

  void await(Tensor tensor, int step) { ops_.push_back({Op::Kind::kAwaitTile, step, {}, tensor}); }
  void release(Tensor tensor, int step) { ops_.push_back({Op::Kind::kRelease, step, {}, tensor}); }
  void start(Activity activity, int step, double cycles) {
    ops_.push_back({Op::Kind::kStart, step, activity, {}, cycles});
  }
  void product(Activity activity, int step, double cycles) {
    if (cycles <= 0) return;
    start(activity, step, cycles);
    ops_.push_back({Op::Kind::kAwaitProduct, step, activity});
  }
  void alone(Activity activity, int step, double cycles) {
    if (cycles > 0) ops_.push_back({Op::Kind::kAlone, step, activity, {}, cycles});
  }
  void softmax(int step, double cycles) {
    if (cycles > 0) ops_.push_back({Op::Kind::kSoftmax, step, Activity::kSoftmax, {}, cycles});
  }
  void take_turn() {
    if (plan_.turns) ops_.push_back({Op::Kind::kTakeTurn});
  }
  void give_turn() {
    if (plan_.turns) ops_.push_back({Op::Kind::kGiveTurn});
  }

  const PipelinePlan& plan_;
  std::vector<Op> ops_;
};

}  // namespace

std::vector<Op> program_of(const PipelinePlan& plan) {
  Program program(plan);
  return plan.order == LoopOrder::kSequential ? program.sequential() : program.warpgroup();
}

}  // namespace heddle

import { describe, expect, it } from 'vitest';
import { diagnoseLog } from '../../src/features/diagnose/diagnoseLog.ts';
import { readBuildLog } from '../../src/kernel/read/tensorrt/readBuildLog.ts';
import { sampleText, samplesIn } from '../support/samples.ts';

const codes = (text: string) =>
  diagnoseLog(readBuildLog(text).value).map(({ code, severity }) => `${severity} ${code}`);

describe("other people's failures", () => {
  it('every one of them: what is told of it, whole', () => {
    const told = Object.fromEntries(
      samplesIn('issues').map((name) => [name.replace('.txt', ''), codes(sampleText(`issues/${name}`))]),
    );
    expect(told).toEqual({
      elementwise_types_trtllm_1077: [],
      'foreignnode_11.0_myelincheck_tmc245': ['warning internal'],
      'foreignnode_8.6_mmdeploy_2632': ['error no-implementation', 'warning library-mismatch'],
      'foreignnode_9.3_bf16_autotuner_3748': ['error no-implementation'],
      'foreignnode_fp16_8.6_3162': ['error cut-off'],
      foreignnode_myelin_error_2189: ['error no-implementation', 'warning precision-underflow'],
      foreignnode_nomem_2035: ['error out-of-memory'],
      foreignnode_tactic_inf_1917: ['error out-of-memory'],
      'gpulayer_dynamic_8.6_ptlflow_65': [],
      'layerinfo_names_vs_detailed_10.10_4397': [],
      layernorm_fp16_emptynames_4505: ['warning precision-overflow'],
      layernorm_reduce_pow_torchtrt_4061: ['warning precision-overflow'],
      myelin_assert_no_tactics_2161: ['error no-implementation'],
      onnxruntime_trt_prefix_22164: ['warning internal'],
      'parser_attention_10.14_4705': ['error cut-off'],
      precision_fp16_not_configured_1823: ['error bad-flag-value'],
      'precision_ignored_8.6_cmd_3889': [],
      'precision_ignored_strict_7.2_2407': [],
      'profile_foreignnode_8.4_2308': [],
      replay_mismatch_4040: ['error replay-mismatch'],
      'skip_tactic_cask_10.14_4845': ['warning internal'],
      skip_tactic_shape_inference_animejanai_36: ['warning type-mismatch'],
      'some_tactics_workspace_8.4_mmdeploy_869': ['warning library-mismatch'],
      trt11_fp16_attribute_rife_25: ['error unknown-flag'],
      trt5_scratch_52: ['warning workspace-too-small'],
      trtrtx_banner_26: ['error cut-off'],
    });
  });
});

describe('logs as users paste them: cause and advice', () => {
  it.each([
    ['02_TensorRT_2195', 'engine-standard-and-safe', /another version or edition.*96/, /one TensorRT/],
    ['05_TensorRT_1167', 'profile-missing', /no optimization profile/, /min, opt and max/],
    ['07_jetson_dla_tutorial_3', 'dla-fallback', /3 SHUFFLE .*2 CONSTANT/, /transition/],
    ['11_CUDA-PointPillars_28', 'plugin-name-mismatch', /ScatterBEV.*PillarScatterPlugin/, /rename/],
    ['13_TensorRT_3236', 'library-mismatch', /cuBLASLt.*11\.2\.1\.0.*older.*11\.9\.2/, /LD_LIBRARY_PATH/],
    ['16_torch2trt_661', 'allocation-failed', /Out of memory: one buffer of 144 MiB/, /swap/],
    ['22_onnxruntime_17235', 'calibration-missing', /calibration table/, /trt_int8_calibration_table_name/],
    ['24_TensorRT_1634', 'calibration-nan', /min > max.*NaN/, /ONNX Runtime/],
    ['27_TensorRT_4253', 'strongly-typed-flags', /strongly typed.*FP16/, /Remove.*FP16/],
    ['31_TensorRT_3990', 'runtime-reshape', /run time.*97200.*98100/, /shapes of the build/],
    ['33_server_3919', 'outside-profile', /\[8,10,128\].*outside.*profile.*rank/, /profile of the plan/],
    ['36_depth-anything-tensorrt_8', 'if-shapes', /If_1249.*rank/, /branch that is taken.*squeeze/],
    ['39_tensorrt_demos_605', 'cudnn-not-initialized', /cuDNN cannot be initialized/, /8\.5 wants cuDNN 8\.6/],
    ['41_TensorRT_3826', 'gpu-unsupported', /6\.1.*dropped in TensorRT 10/, /9\.3 or earlier.*8\.6/],
    ['44_TensorRT_2730', 'layernorm-fp16', /aten::layer_norm.*FP16/, /FP32/],
    ['48_TensorRT_825', 'resize-scales-computed', /scales of a Resize are computed/, /Fold constants.*opset 11/],
  ])('%s: %s', (name, rule, cause, advice) => {
    const [first] = diagnoseLog(readBuildLog(sampleText(`issue-logs/${name}.txt`)).value);
    expect(first).toMatchObject({ rule });
    expect(first!.message).toMatch(cause);
    expect(first!.advice).toMatch(advice);
  });
});

import { describe, expect, it } from 'vitest';
import { diagnoseLog } from '../../src/core/diagnose/diagnoseLog.ts';
import { readBuildLog } from '../../src/core/engine/readBuildLog.ts';
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
      'foreignnode_8.6_mmdeploy_2632': ['error no-implementation'],
      'foreignnode_9.3_bf16_autotuner_3748': ['error no-implementation'],
      'foreignnode_fp16_8.6_3162': ['error cut-off'],
      foreignnode_myelin_error_2189: ['warning precision-underflow', 'error no-implementation'],
      foreignnode_nomem_2035: ['warning workspace-too-small', 'error no-implementation'],
      foreignnode_tactic_inf_1917: ['warning workspace-too-small', 'error no-implementation'],
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
      'some_tactics_workspace_8.4_mmdeploy_869': [],
      trt11_fp16_attribute_rife_25: ['error unknown-flag'],
      trt5_scratch_52: ['warning workspace-too-small'],
      trtrtx_banner_26: ['error cut-off'],
    });
  });
});

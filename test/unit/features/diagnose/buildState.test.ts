import { describe, expect, it } from 'vitest';
import { readBuildLog } from '../../../../src/kernel/read/tensorrt/readBuildLog.ts';
import {
  buildState,
  type Diagnosis,
  engineState,
  failureReason,
  profileNotice,
  stepsAfter,
} from '../../../../src/kernel/build/diagnosis.ts';
import { diagnoseLog } from '../../../../src/features/diagnose/diagnoseLog.ts';
import { programFailure } from '../../../../src/kernel/build/buildManifest.ts';
import { buildManifest } from '../../../support/buildManifest.ts';
import { captureText } from '../../../support/fixtures.ts';

const files = { log: 'build.log', layers: null, profile: null, engine: null };
const failed = buildManifest({ id: 'two', result: 'failed', error: 'trtexec exited with 1', files });
const foundIn = (capture: string): Diagnosis[] => diagnoseLog(readBuildLog(captureText(`${capture}/log.txt`)!).value);
const stateOf = (capture: string) =>
  buildState({ unsuccessful: { manifest: failed, found: foundIn(capture) }, pictured: null, changed: false });

describe('buildState', () => {
  it('names the cause of a failed build and the steps that fit it', () => {
    const unsupported = stateOf('tensorrt-10.6.0/unsupported_op.fp32');
    expect(unsupported.notices).toMatchObject([{ kind: 'failed', steps: ['reduce', 'repair', 'log'] }]);
    expect(unsupported.notices[0]!.message).toMatch(/^Build failed\. TensorRT has no importer for .*MyCustomOp/);
    expect(unsupported.notices[0]!.advice).not.toMatch(/--\w/);
    expect(unsupported.faults[0]!.advice).toBe(unsupported.notices[0]!.advice);
    expect(unsupported.line).toBeGreaterThan(0);

    const weights = stateOf('tensorrt-10.6.0/cli.missing_weights');
    expect(weights.notices[0]!.steps).toEqual(['randomWeights', 'log']);
    expect(weights.notices[0]!.advice).toContain('random weights');

    const tooLarge: Pick<Diagnosis, 'code' | 'nodes'> = { code: 'out-of-memory', nodes: [] };
    expect(stepsAfter(failed, tooLarge as Diagnosis)).toEqual(['buildAs', 'memory', 'log']);

    const profile = stateOf('tensorrt-10.6.0/bert_base.badprofile');
    expect(profile.notices[0]!.steps).toEqual(['shapes', 'log']);
    expect(profile.notices[0]!.advice).not.toMatch(/--\w/);
  });

  it('says why a build failed, with what a button does instead of a flag', () => {
    const failure = {
      code: 'profile-missing',
      message: 'There is no profile.',
      advice: 'Pass --minShapes.',
      nodes: [],
      lines: [7],
    } as const;
    const error = 'There is no profile. Pass --minShapes. (trtexec exited with 1)';
    expect(failureReason({ error, failure: { ...failure, nodes: [], lines: [7] } })).toBe(
      'There is no profile. Set the shapes of the dynamic inputs.',
    );
    expect(failureReason({ error: null, failure: programFailure('killed', 'trtexec was killed') })).toBe(
      'trtexec was killed.',
    );
    // A manifest of an earlier version.
    expect(failureReason({ error })).toBe(error);
    expect(failureReason({ error: null })).toBeNull();
  });

  it('offers random weights by the code of a failure, whatever its words', () => {
    const failure = { ...programFailure('stopped', 'any words'), code: 'weights-missing' as const };
    expect(stepsAfter({ ...failed, failure }, undefined)).toEqual(['randomWeights', 'log']);
    expect(stepsAfter({ ...failed, error: 'the weights file x is missing' }, undefined)).toEqual(['log']);
  });

  it('offers no shapes where the model leaves none open', () => {
    const fixed = [[{ input: 'x', min: '1x3', opt: '1x3', max: '1x3' }]];
    const found = [{ code: 'shape-mismatch', nodes: ['3'] }] as Diagnosis[];
    expect(stepsAfter({ ...failed, shapes: fixed }, found[0])).toEqual(['reduce', 'repair', 'log']);
    expect(stepsAfter({ ...failed, shapes: [[{ ...fixed[0]![0]!, defaulted: [0] }]] }, found[0])).toEqual([
      'shapes',
      'reduce',
      'repair',
      'log',
    ]);
  });

  it('offers a known repair first, whatever failed', () => {
    const known = (code: Diagnosis['code']) => ({ code, nodes: ['3'], repair: 'dense-initializers' }) as Diagnosis;
    expect(stepsAfter(failed, known('unsupported-op'))).toEqual(['repair', 'plugin', 'reduce', 'log']);
    expect(stepsAfter(failed, known('model-invalid'))).toEqual(['repair', 'log']);
  });

  it('offers a plugin for a node that lacks one, where the log names the node', () => {
    const missing = { code: 'plugin-missing', nodes: ['7'] } as Diagnosis;
    expect(stepsAfter(failed, missing)).toEqual(['plugin', 'reduce', 'repair', 'log']);
    expect(stepsAfter(failed, { ...missing, code: 'unsupported-op' })).toEqual(['plugin', 'reduce', 'repair', 'log']);
    expect(stepsAfter(failed, { ...missing, nodes: [] })).toEqual(['reduce', 'repair', 'log']);
  });

  it('says of which build the picture is after a later one failed or was cancelled', () => {
    const pictured = buildManifest({ id: 'one' });
    const cancelled = { ...failed, result: 'cancelled' as const, error: 'cancelled' };
    const { notices } = buildState({ unsuccessful: { manifest: cancelled, found: [] }, pictured, changed: true });
    expect(notices).toMatchObject([
      { kind: 'cancelled', message: 'Build cancelled.', steps: ['build', 'log'] },
      { kind: 'stale', steps: ['build'] },
    ]);
    expect(notices[0]!.advice).toContain('newest successful build');
    const own = buildState({ unsuccessful: { manifest: cancelled, found: [] }, pictured: cancelled, changed: false });
    expect(own.notices[0]!.advice).toBe('');
    const cut = { ...cancelled, failure: programFailure('interrupted', 'any words') };
    const { notices: last } = buildState({ unsuccessful: { manifest: cut, found: [] }, pictured, changed: false });
    expect(last[0]!.message).toContain('interrupted');
  });

  it('says which optimization profile the picture shows, and offers the others', () => {
    const optimizationProfile = { shown: 1, of: 2 };
    const { notices } = buildState({ unsuccessful: null, pictured: null, changed: false, optimizationProfile });
    expect(notices).toMatchObject([{ kind: 'part', steps: ['optimizationProfile'] }]);
    expect(notices[0]!.message).toMatch(/2 optimization profiles.* This is profile 1\.$/);
    expect(engineState([], undefined, optimizationProfile).notices[1]).toEqual(notices[0]);
    expect(engineState([]).notices).toHaveLength(1);
  });

  it('does not say that anyone cancelled the build of a log that just ends', () => {
    const manifest = { ...failed, result: 'cancelled' as const, origin: 'imported' as const, error: 'cut off: …' };
    const { notices } = buildState({ unsuccessful: { manifest, found: [] }, pictured: manifest, changed: false });
    expect(notices).toMatchObject([{ kind: 'cancelled', message: 'The log ends before the build does.' }]);
  });

  it('names the cause of a failed build whose model is not there, and asks for the model', () => {
    const { notices, line } = engineState([], foundIn('tensorrt-10.6.0/unsupported_op.fp32'));
    expect(notices).toMatchObject([{ kind: 'failed', steps: ['chooseModel', 'log'] }]);
    expect(notices[0]!.message).toMatch(/^Build failed\. TensorRT has no importer for .*MyCustomOp/);
    expect(notices[0]!.advice).toMatch(/Choose the ONNX file to see the nodes that the log names\.$/);
    expect(line).toBeGreaterThan(0);
    expect(engineState([], []).notices[0]!.message).toBe('Build failed. The log has the reason.');
  });

  it('unwraps TensorRT’s own text where no cause is known', () => {
    const error = '[optimizer.cpp::f::12] Error Code 4: API Usage Error (reason In f at /x.cpp:12)';
    const manifest = { ...failed, error, files: { ...files, log: null } };
    const { notices, line } = buildState({ unsuccessful: { manifest, found: [] }, pictured: null, changed: false });
    expect(notices[0]).toMatchObject({ message: 'Build failed. reason.', steps: [] });
    expect(line).toBeNull();
  });

  it('has nothing to say about a build that passed, and of a picture that is not there', () => {
    const nothing = { notices: [], faults: [], line: null };
    expect(buildState({ unsuccessful: null, pictured: buildManifest(), changed: false })).toEqual(nothing);
    expect(buildState({ unsuccessful: null, pictured: null, changed: true })).toEqual(nothing);
  });

  it('says how to get times, by what built the engine', () => {
    expect(profileNotice(buildManifest()).steps).toEqual(['profile', 'attach']);
    expect(profileNotice(buildManifest({ backend: 'rtx' })).steps).toEqual(['attach']);
    expect(profileNotice(buildManifest({ origin: 'imported' })).steps).toEqual(['attach']);
  });
});

import fc from 'fast-check';

/**
 * Random cases are the same in every run, so that what fails, fails for what was changed. `SEED=7 npm test -- unit long`
 * tries others; a failure names its seed.
 */
fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 1) });

/** What `build_engine.py` imports from its own folder: wherever it goes, these go, too. */
export const driverModules = ['network_options.py', 'job.py', 'trt_binding.py'];

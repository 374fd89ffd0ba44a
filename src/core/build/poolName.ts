/** trtexec's name of a memory pool as the binding and Polygraphy spell it: `dlaSRAM` is `dla_managed_sram` there. */
export const poolName = (name: string): string =>
  ({ dlaSRAM: 'dla_managed_sram', dlaLocalDRAM: 'dla_local_dram', dlaGlobalDRAM: 'dla_global_dram' })[name] ??
  (name === 'tacticSharedMem' ? 'tactic_shared_memory' : name);

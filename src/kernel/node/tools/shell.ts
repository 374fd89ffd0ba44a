/** The shell whose quoting people of this system know; commands are run without any. */
export const shell: 'posix' | 'powershell' = process.platform === 'win32' ? 'powershell' : 'posix';

// What the viewing path uses of `node:os`.
export const homedir = (): string => '/';
export const hostname = (): string => '';
export const tmpdir = (): string => `${process.env['TENSORRT_LENS_CACHE']}/tmp`;

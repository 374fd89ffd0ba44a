// What the viewing path uses of `node:path`, for paths with slashes.
export const sep = '/';
export const delimiter = ':';

export function normalize(path: string): string {
  const absolute = path.startsWith('/');
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (!absolute) parts.push(part);
  }
  return (absolute ? '/' : '') + parts.join('/') || (absolute ? '/' : '.');
}

export const isAbsolute = (path: string): boolean => path.startsWith('/');

export const join = (...parts: string[]): string => normalize(parts.filter((part) => part !== '').join('/'));

/** There is no current folder: relative paths begin at the root. */
export function resolve(...parts: string[]): string {
  const from = Math.max(0, parts.findLastIndex(isAbsolute));
  return normalize(`/${parts.slice(from).join('/')}`);
}

export function dirname(path: string): string {
  const end = path.replace(/\/+$/, '').lastIndexOf('/');
  return end < 0 ? '.' : path.slice(0, end) || '/';
}

export function basename(path: string, suffix = ''): string {
  const name = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return suffix !== '' && suffix !== name && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
}

export const extname = (path: string): string => /(?<=.)\.[^.]*$/.exec(basename(path))?.[0] ?? '';

export function relative(from: string, to: string): string {
  const a = resolve(from).split('/').filter(Boolean);
  const b = resolve(to).split('/').filter(Boolean);
  let same = 0;
  while (same < a.length && a[same] === b[same]) same += 1;
  return [...a.slice(same).map(() => '..'), ...b.slice(same)].join('/');
}

export const posix = { sep, delimiter, normalize, isAbsolute, join, resolve, dirname, basename, extname, relative };
/** Paths of Windows do not occur in URIs. */
export const win32 = { ...posix };

// What the viewing path uses of Node's globals, given to every file of the bundle.
const pid = 1 + Math.floor(Math.random() * 2 ** 30);

export const process = {
  env: {} as Record<string, string | undefined>,
  platform: 'web',
  pid,
  cwd: () => '/',
  uptime: () => performance.now() / 1000,
  /** Only this window is known to run. */
  kill: (other: number) => {
    if (other !== pid) throw Object.assign(new Error('no such process'), { code: 'ESRCH' });
  },
};

export const Buffer = {
  from: (content: string | Uint8Array, encoding = 'utf8'): Uint8Array => new Text(bytesOf(content, encoding)),
  alloc: (length: number): Uint8Array => new Uint8Array(length),
  allocUnsafe: (length: number): Uint8Array => new Uint8Array(length),
};

function bytesOf(content: string | Uint8Array, encoding: string): Uint8Array {
  if (typeof content !== 'string') return content;
  if (encoding === 'utf8') return new TextEncoder().encode(content);
  return Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
}

/** Bytes that can be written as text. */
class Text extends Uint8Array {
  override toString(encoding = 'utf8'): string {
    if (encoding !== 'base64') return new TextDecoder().decode(this);
    let text = '';
    for (let at = 0; at < this.length; at += 2 ** 13) text += String.fromCharCode(...this.subarray(at, at + 2 ** 13));
    return btoa(text);
  }
}

export const setImmediate = (act: () => void): void => void setTimeout(act, 1);

// Loaded before vsce: its archive with the best compression, which is 6 KB smaller than with the usual one.
const zlib = require('node:zlib');
const { deflateRaw, DeflateRaw } = zlib;
const best = { level: 9, memLevel: 9 };
zlib.deflateRaw = (buffer, options, done = options) =>
  deflateRaw(buffer, { ...(typeof options === 'object' && options), ...best }, done);
zlib.DeflateRaw = function BestDeflateRaw(options) {
  return new DeflateRaw({ ...options, ...best });
};

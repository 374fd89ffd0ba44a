import type { JsonOptions } from '../text/losslessJson.ts';
import type { Problem } from '../text/problem.ts';
import { plainValue } from '../text/jsonNode.ts';
import { readLosslessJson } from '../text/losslessJson.ts';

/**
 * Plain values of every JSON document in a text. Proper JSON takes the fast way; what TensorRT and trtexec write without
 * escaping, text around it and cut-off files are read as far as they go, with problems.
 */
export function readJsonDocuments(text: string, options: JsonOptions): { documents: unknown[]; problems: Problem[] } {
  const trimmed = text.trim();
  if (trimmed === '') return { documents: [], problems: [] };
  try {
    return { documents: [JSON.parse(trimmed.charCodeAt(0) === 0xfeff ? trimmed.slice(1) : trimmed)], problems: [] };
  } catch {
    const { documents, problems } = readLosslessJson(text, options);
    return { documents: documents.map(plainValue), problems };
  }
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOr(value: unknown, otherwise: null): string | null;
export function textOr(value: unknown, otherwise: string): string;
export function textOr(value: unknown, otherwise: string | null): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : otherwise;
}

/** A number, also from the words that C++ writes for it; null for anything else. */
export function numberOr(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return null;
  const number = Number(value);
  return Number.isNaN(number) && value.toLowerCase() !== 'nan' ? null : number;
}

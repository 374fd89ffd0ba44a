import type { ViewData } from '../../src/core/picture/graph/viewData.ts';
import { strings } from '../shared/strings.ts';
import { errorText } from '../../src/core/base/problem.ts';

/**
 * The page's data: from `#view-data` where the page carries it, else ./data.json next to it. Never throws: without
 * data, `message` says why.
 */
export async function loadData(): Promise<{ data: ViewData | null; message: string }> {
  const embedded = document.getElementById('view-data')?.textContent.trim() ?? '';
  try {
    if (embedded !== '') return checked(JSON.parse(embedded));
    const response = await fetch('./data.json');
    if (!response.ok) return { data: null, message: strings.playground.noData };
    return checked(await response.json());
  } catch (error) {
    return { data: null, message: strings.playground.badData(errorText(error)) };
  }
}

function checked(value: unknown): { data: ViewData | null; message: string } {
  if (typeof value === 'object' && value !== null && 'title' in value && 'graph' in value && 'report' in value) {
    return { data: value as ViewData, message: '' };
  }
  return { data: null, message: strings.playground.badData('it contains no view data') };
}

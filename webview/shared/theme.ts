import type { LayerKind } from '../../src/kernel/fusion/fusionReport.ts';

export type ThemeKind = 'light' | 'dark' | 'contrast-dark' | 'contrast-light';

/** The page's colors as a canvas can use them (`rgb(…)`); in SVG and CSS use the `--lens-*` variables of base.css. */
export interface Theme {
  kind: ThemeKind;
  dark: boolean;
  /** High contrast: thick outlines, no translucent fills. */
  contrast: boolean;
  foreground: string;
  muted: string;
  background: string;
  panel: string;
  border: string;
  strong: string;
  active: string;
  focus: string;
  error: string;
  warning: string;
  /** Not computed: folded, removed, shape. */
  gray: string;
  /** At most eight at once: 0–4 ForeignNodes in turn, 5 reformats, 6 fused layers, 7 single layers. */
  categorical: readonly string[];
}

const foreignColors = 5;

/** Index into `Theme.categorical` (and of `--lens-c<index>`) for a ForeignNode by its id in the report. */
export function foreignColor(id: number): number {
  return ((id % foreignColors) + foreignColors) % foreignColors;
}

/** Index into `Theme.categorical` for a layer; null: gray. Kernels of a ForeignNode have their ForeignNode's color. */
export function layerColor(kind: LayerKind, foreignNode: number | null): number | null {
  if (foreignNode !== null) return foreignColor(foreignNode);
  switch (kind) {
    case 'reformat':
      return 5;
    case 'fused':
      return 6;
    case 'single':
      return 7;
    case 'foreign':
    case 'kernel':
      return 0;
    case 'shape':
    case 'constant':
    case 'other':
      return null;
  }
}

const categorical = Array.from({ length: 8 }, (_, i) => `c${i}`);
const plain = ['fg', 'muted', 'bg', 'panel', 'border', 'strong', 'active', 'focus', 'error', 'warning', 'gray'];

/** The theme as it is now. Costs a reading of styles: keep the result until `onThemeChange` calls. */
export function readTheme(): Theme {
  // A probe's computed color is the only reading that follows var() and light-dark() to the end. One for each color:
  // with one for all of them the styles of the page would be computed again after each change of it.
  const probes = document.createElement('span');
  probes.hidden = true;
  const probeOf = new Map(
    [...plain, ...categorical].map((name) => {
      const probe = document.createElement('span');
      probe.style.setProperty('color', `var(--lens-${name})`);
      probes.append(probe);
      return [name, probe];
    }),
  );
  document.body.append(probes);
  const color = (name: string): string => getComputedStyle(probeOf.get(name)!).color;
  const kind = themeKind();
  const theme: Theme = {
    kind,
    dark: kind === 'dark' || kind === 'contrast-dark',
    contrast: kind === 'contrast-dark' || kind === 'contrast-light',
    foreground: color('fg'),
    muted: color('muted'),
    background: color('bg'),
    panel: color('panel'),
    border: color('border'),
    strong: color('strong'),
    active: color('active'),
    focus: color('focus'),
    error: color('error'),
    warning: color('warning'),
    gray: color('gray'),
    categorical: categorical.map(color),
  };
  probes.remove();
  return theme;
}

function themeKind(): ThemeKind {
  const { classList } = document.body;
  if (classList.contains('vscode-high-contrast-light')) return 'contrast-light';
  if (classList.contains('vscode-high-contrast')) return 'contrast-dark';
  if (classList.contains('vscode-dark')) return 'dark';
  if (classList.contains('vscode-light')) return 'light';
  const asked = document.documentElement.dataset['theme'];
  if (asked === 'light' || asked === 'dark') return asked;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Calls after each change of theme, at most once a frame. The result stops it. */
export function onThemeChange(changed: (theme: Theme) => void): () => void {
  let frame = 0;
  const later = () => {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => changed(readTheme()));
  };
  const observer = new MutationObserver(later);
  observer.observe(document.body, { attributes: true, attributeFilter: ['class', 'data-vscode-theme-id'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'style'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', later);
  return () => {
    cancelAnimationFrame(frame);
    observer.disconnect();
    system.removeEventListener('change', later);
  };
}

import { onThemeChange, readTheme } from '../../shared/theme.ts';
import type { FitText } from '../draw/drawView.ts';
import { makeFit } from '../draw/fitLabels.ts';
import { makePalette } from '../draw/palette.ts';
import type { Palette } from '../draw/palette.ts';

const bodyFont = (): string => getComputedStyle(document.body).fontFamily;

/** The page's colours and font, and texts fitted in it, as they are now. */
export class Appearance {
  palette: Palette = makePalette(readTheme());
  family = bodyFont();
  fit: FitText = makeFit(this.family);

  /** `changed` is called after each change of theme. */
  constructor(changed: () => void) {
    onThemeChange((theme) => {
      this.palette = makePalette(theme);
      this.family = bodyFont();
      this.fit = makeFit(this.family);
      changed();
    });
  }
}

import type * as vscode from 'vscode';
import { shapeRange } from '../../../core/base/text.ts';
import type { FusionReport } from '../../../core/fusion/fusionReport.ts';
import { pickItem } from '../../platform/askUser.ts';
import { showInformation } from '../../platform/messages.ts';
import type { Sessions } from '../sessions.ts';

/** Asks which optimization profile of the engine on view its views are to show. */
export async function selectProfile(sessions: Sessions, uri: vscode.Uri | undefined): Promise<void> {
  const session = uri === undefined ? sessions.current : sessions.find(uri);
  const report = session?.report;
  if (session === undefined || report?.optimizationProfile === undefined) {
    await showInformation('The engine on view has one optimization profile.');
    return;
  }
  const picked = await pickItem(profileItems(report), { placeHolder: 'Select the optimization profile to show' });
  if (picked !== undefined) await sessions.showProfile(session.uri, picked.number);
}

function profileItems({ optimizationProfile, builtShapes = [] }: FusionReport) {
  const { shown, of } = optimizationProfile!;
  return Array.from({ length: of }, (_, number) => ({
    label: `Profile ${number}`,
    description: number === shown ? 'shown' : '',
    detail: builtShapes
      .filter(({ profile }) => profile === number)
      .map((shape) => `${shape.input} ${shapeRange(shape)}`)
      .join(', '),
    number,
  }));
}

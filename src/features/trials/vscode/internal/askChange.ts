import type { SearchKind } from '../../searchChange.ts';
import * as vscode from 'vscode';
import type { WhatIfRequest } from '../../node/whatIf.ts';
import type { BuildOptions } from '../../../../kernel/node/run/runBuild.ts';
import { parserName } from '../../../../kernel/network/nodeNames.ts';
import { writeName } from '../../../../kernel/rules/overrideFile.ts';
import type { GraphData } from '../../../../kernel/picture/graph/viewData.ts';
import { addable } from '../../../surgery/changeModel.ts';
import { enterText, pickItem, pickWord } from '../../../../kernel/vscode/platform/askUser.ts';
import { back } from '../../../../kernel/vscode/platform/quickSteps.ts';
import { chooseShapes, profilesText, shapeQuestion } from '../../../../kernel/vscode/builds/askShapes.ts';
import type { ChosenNodes } from './chosenNodes.ts';

/** A change to build with. */
export interface Trial {
  /** What it does, as a phrase: the title of the comparison. */
  words: string;
  change: WhatIfRequest['change'];
  changed: Partial<BuildOptions>;
  /** Rules to build with. */
  rules?: string;
}

/** What the user asked: to try a change, or to look for one. */
export type Asked = { trial: Trial } | { search: SearchKind };

type OfferName = 'output' | 'unmark' | 'cut' | 'add' | 'remove' | 'rules' | 'opset' | 'shapes' | 'gpu' | SearchKind;

interface Offer extends vscode.QuickPickItem {
  name?: OfferName;
  /** Asks for what else must be known; undefined: the user closed the question. */
  ask?: () => Promise<Asked | undefined>;
}

/**
 * Asks what to try at some nodes.
 * @param given name of an offer that is taken without asking
 */
export async function askChange(
  chosen: ChosenNodes,
  graph: GraphData | null,
  script: string,
  given: unknown,
): Promise<Asked | undefined> {
  const offers = [
    ...atTensor(chosen, graph),
    ...atNodes(chosen, graph),
    ...ofModel(chosen.model, script),
    ...searches(chosen),
  ];
  const known = offers.find(({ name }) => name !== undefined && name === given);
  const picked =
    known ??
    (await pickItem(offers, {
      title: 'What If',
      placeHolder: 'Select a change to try, or the goal of a search',
      matchOnDescription: true,
    }));
  return picked?.ask?.();
}

const trial = (words: string, change: WhatIfRequest['change'], more: Partial<Trial> = {}): Asked => ({
  trial: { words, change, changed: {}, ...more },
});

const heading = (label: string): Offer => ({ label, kind: vscode.QuickPickItemKind.Separator });

function atTensor({ nodes, tensor }: ChosenNodes, graph: GraphData | null): Offer[] {
  const name = tensor ?? graph?.nodes.find(({ id }) => id === nodes.at(-1))?.outputs[0];
  if (name === undefined || name === '') return [];
  const isOutput = graph?.outputs.some((output) => output.name === name) ?? false;
  const mark: Offer = isOutput
    ? {
        name: 'unmark',
        label: '$(eye-closed) Unmark the Output',
        description: 'the tensor is no output of the model any more',
        ask: () => Promise.resolve(trial(`Without output ${name}`, { unmark: name })),
      }
    : {
        name: 'output',
        label: '$(eye) Mark as Output',
        description: 'the tensor becomes an output of the model',
        ask: () => Promise.resolve(trial(`Output ${name}`, { outputs: [name] })),
      };
  return [
    heading(`Tensor ${name}`),
    mark,
    {
      name: 'cut',
      label: '$(split-vertical) Cut',
      description: 'the network ends there and begins again',
      ask: () => Promise.resolve(trial(`Cut at ${name}`, { cuts: [name] })),
    },
    {
      name: 'add',
      label: '$(add) Add a Node…',
      description: 'between the tensor and the nodes that read it',
      ask: async () => {
        const add = await pickWord([...addable], 'Select what to add');
        return add === undefined ? undefined : trial(`${add} behind ${name}`, { add, at: name });
      },
    },
  ];
}

function atNodes({ nodes }: ChosenNodes, graph: GraphData | null): Offer[] {
  const ids = new Set(nodes);
  const known = graph?.nodes.filter(({ id }) => ids.has(id)) ?? [];
  const last = known.at(-1);
  if (last === undefined) return [];
  const names = known.map((node) => writeName(parserName(node))).filter((name) => name !== '');
  const label = names[0] ?? `node ${last.id}`;
  const several = known.length > 1 ? `${known.length} nodes` : label;
  return [
    heading(several),
    ...(known.length > 1
      ? []
      : [
          {
            name: 'remove' as const,
            label: '$(trash) Remove',
            description: 'its first input takes the place of its output',
            ask: () => Promise.resolve(trial(`Without ${label}`, { remove: last.id })),
          },
        ]),
    {
      name: 'rules',
      label: '$(symbol-numeric) Compute in Another Type…',
      description: 'as a rule of an override file does',
      ask: async () => {
        const type = await pickWord(['fp32', 'fp16', 'bf16'], 'Select a type');
        return type === undefined
          ? undefined
          : trial(`${several} in ${type}`, null, { rules: `${names.join(', ')}  ${type}` });
      },
    },
  ];
}

function ofModel(model: vscode.Uri, script: string): Offer[] {
  return [
    heading('The whole model'),
    {
      name: 'opset',
      label: '$(versions) Convert to Another Opset…',
      description: 'needs a Python with the package onnx',
      ask: async () => {
        const text = await enterText({
          title: 'What If: Opset',
          prompt: "Version of ONNX's operators",
          value: '19',
          validateInput: (value) => (/^[1-9]\d?$/.test(value) ? undefined : 'Enter a version such as 19'),
        });
        return text === undefined ? undefined : trial(`Opset ${text}`, { opset: Number(text), script });
      },
    },
    {
      name: 'shapes',
      label: '$(symbol-ruler) Build for Other Shapes…',
      description: 'static or dynamic',
      ask: async () => {
        const profiles = await chooseShapes(await shapeQuestion(model), 'What If: Shapes');
        return profiles === undefined || profiles === back
          ? undefined
          : trial(`Shapes ${profilesText(profiles)}`, null, { changed: { profiles } });
      },
    },
    {
      name: 'gpu',
      label: '$(circuit-board) Build for Another GPU…',
      description: 'TensorRT-RTX only',
      ask: async () => {
        const text = await enterText({
          title: 'What If: GPU',
          prompt: 'Compute capability of the GPU',
          value: '12.0',
          validateInput: (value) =>
            /^\d{1,2}\.\d$/.test(value) ? undefined : 'Enter a compute capability such as 8.9',
        });
        return text === undefined
          ? undefined
          : trial(`Compute capability ${text}`, null, { changed: { computeCapability: [text] } });
      },
    },
  ];
}

function searches({ nodes }: ChosenNodes): Offer[] {
  if (nodes.length === 0) return [];
  return [
    heading('Search for the cheapest change'),
    {
      name: 'break',
      label: '$(search) Break This Fusion',
      description: 'several kernels compute what one kernel does now',
      ask: () => Promise.resolve({ search: 'break' }),
    },
    {
      name: 'separate',
      label: '$(search) Keep Out of the ForeignNode',
      description: 'TensorRT computes the nodes outside of every ForeignNode',
      ask: () => Promise.resolve({ search: 'separate' }),
    },
    ...(nodes.length < 2
      ? []
      : [
          {
            name: 'fuse' as const,
            label: '$(search) Fuse These Nodes',
            description: 'one kernel computes what several do now',
            ask: () => Promise.resolve({ search: 'fuse' as const }),
          },
        ]),
  ];
}

// Help texts are in plain words (CONTRIBUTING.md, "The change"): a verb first, short, the object
// named. The texts are read from the loaded commands, so that flags built by shared code are held
// too.
import { describe, expect, it } from 'vitest';
import { listCommandIds } from '../../commands/base/input/typed.ts';
import { isNoneClauses, vaguePerThousand, wordsOf } from './plain-words.ts';
import { commandClass, read } from './write.ts';

const longest = 60;
const mostVague = 3;

/** First words of summaries and of examples' descriptions. A new verb is added here. */
const verbs = new Set(
  (
    'Add Apply Approve Archive Block Cancel Change Check Copy Count Create Deactivate Decide Delete ' +
    'Deliver Describe Disable Drop Empty Enable End Erase Explain Find Follow Forward Generate Give Hold Install Invite Keep Let Lift ' +
    'List Lock Look Mail Make Move Name Open Pass Pause Play Post Preview Print Publish Put Read Receive Record Refuse ' +
    'Register Reject Release Remove Rename Reopen Replace Reply Resolve Restore Restrict Resume ' +
    'Retry Review Revoke Run Save Search Send Serve Show Snooze Start Subscribe Test Track Uninstall Upgrade Verify Wait Watch ' +
    'Withdraw Write'
  ).split(' '),
);

interface Described {
  description?: string;
}

interface Help {
  id: string;
  summary: string;
  description: string;
  examples: string[];
  /** Descriptions of arguments and flags. */
  inputs: string[];
}

async function helpOf(id: string): Promise<Help> {
  const loaded = await commandClass(id);
  const { summary = '', description = '', examples, args = {}, flags = {} } = loaded;
  const texts = (all: readonly Described[]) => all.map((one) => one.description ?? '');
  return {
    id,
    summary,
    description,
    examples: texts(examples as Described[]),
    inputs: texts([...Object.values({ ...args }), ...Object.values({ ...flags })]),
  };
}

const helps = await Promise.all(listCommandIds().map(helpOf));

interface Topic {
  description?: string;
  subtopics?: Record<string, Topic>;
}

/** Returns the declared topics by oclif's ids: `domains`, `domains:catch-all`, … */
function flatTopics(topics: Record<string, Topic>, parent = ''): [string, string][] {
  return Object.entries(topics).flatMap(([name, { description = '', subtopics = {} }]) => {
    const id = `${parent}${name}`;
    return [[id, description] as [string, string], ...flatTopics(subtopics, `${id}:`)];
  });
}

const topics = new Map(flatTopics(JSON.parse(read('package.json')).oclif.topics));
const foldersOf = (id: string) =>
  id.split(':').flatMap((_word, at, words) => (at === 0 ? [] : words.slice(0, at).join(':')));

/** Returns the fault of a text that has to begin with a verb, or null. */
function fault(text: string): string | null {
  const [first = ''] = text.split(/[ :]/);
  if (!verbs.has(first)) return `begins with "${first}", which is not in the list of verbs`;
  return text.length > longest ? `has ${text.length} characters` : null;
}

function faults(texts: readonly (readonly [string, string])[]): string[] {
  return texts.flatMap(([id, text]) => {
    const found = fault(text);
    return found === null ? [] : `${id}: "${text}" ${found}`;
  });
}

describe('help', () => {
  it('summaries begin with a verb and have at most 60 characters', () => {
    expect(helps.length).toBeGreaterThan(100);
    expect(faults(helps.map(({ id, summary }) => [id, summary]))).toEqual([]);
  });

  it('examples begin with a verb and have at most 60 characters', () => {
    const examples = helps.flatMap(({ id, examples: all }) =>
      all.map((text) => [id, text] as const),
    );
    expect(examples.length).toBeGreaterThan(150);
    expect(faults(examples)).toEqual([]);
  });

  it('the check of summaries refuses a vague beginning and a long text', () => {
    expect(fault('What waits, what goes first first')).toMatch(/begins with "What"/);
    expect(fault(`List ${'x'.repeat(longest)}`)).toMatch(/has 65 characters/);
  });

  it('arguments and flags are described, without a full stop', () => {
    const bad = helps.flatMap(({ id, inputs }) =>
      inputs.filter((text) => !/^[A-Za-z].*[^.]$/.test(text)).map((text) => `${id}: "${text}"`),
    );
    expect(bad).toEqual([]);
  });

  it('texts name the noun: few say who or what', () => {
    const texts = helps.map((help) => ({
      id: help.id,
      text: [help.summary, help.description, ...help.examples, ...help.inputs].join('\n'),
    }));
    const all = [...texts.map(({ text }) => text), ...topics.values()].join('\n');
    expect(wordsOf(all).length).toBeGreaterThan(3000);
    expect(vaguePerThousand(wordsOf(all))).toBeLessThan(mostVague);
    const none = texts.flatMap(({ id, text }) => isNoneClauses(text).map((one) => `${id}: ${one}`));
    expect(none).toEqual([]);
  });
});

describe('topics', () => {
  it('every folder of commands is a topic of package.json with a description', () => {
    const folders = new Set(listCommandIds().flatMap(foldersOf));
    expect([...topics.keys()].sort()).toEqual([...folders].sort());
    expect([...topics].filter(([, text]) => !/^[A-Z].{8,}[^.]$/.test(text))).toEqual([]);
  });

  it('descriptions of topics have at most 60 characters', () => {
    expect([...topics].filter(([, text]) => text.length > longest)).toEqual([]);
  });

  it('no topic repeats the summary of a command', () => {
    const summaries = new Set(helps.map(({ summary }) => summary));
    expect([...topics].filter(([, text]) => summaries.has(text))).toEqual([]);
  });
});

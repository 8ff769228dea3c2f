// The attacking process of the siege: makes its data, then runs the requested attacks ('start' and
// a kind, or all), side by side, until 'stop'; on 'count' it sends the counts of its answers.
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../../src/platform/runtime/random.ts';
import { Api } from './api.ts';
import { campaignAttacks } from './campaign-attacks.ts';
import { contactAttacks } from './contact-attacks.ts';
import { documentAttacks } from './document-attacks.ts';
import { httpAttacks } from './http-attacks.ts';
import { mcpAttacks } from './mcp-attacks.ts';
import { seedContents } from './seed-contents.ts';
import type { Siege } from './siege.ts';
import { smtpAttacks } from './smtp-attacks.ts';
import { webhookAttacks } from './webhook-attacks.ts';

/** One attack, run again and again; resolves with its answer. */
export type Attack = () => Promise<string>;

const siege = JSON.parse(process.argv[2] ?? '{}') as Siege;
const random = seededRandom(siege.seed);
const api = new Api(siege.httpPort);
/** Longest random pause between two of the same attack, in ms. */
const restMs = 1000;

const seeded = await seedContents(siege, api);
const attacks: Record<string, Attack> = {
  ...smtpAttacks(siege),
  ...documentAttacks(siege),
  ...httpAttacks(siege, api, seeded),
  ...mcpAttacks(siege, api, seeded),
  ...contactAttacks(siege, api),
  ...(await campaignAttacks(siege, api)),
  ...(await webhookAttacks(siege, api)),
};
const counts = new Map<string, Map<string, number>>();

/** Removes the number of an attack, which leaves its kind. */
const kindOf = (name: string) => name.replace(/ \d+$/, '');
/**
 * Counts the starts and stops, so that an attack under way at a stop is not repeated after the next
 * start.
 */
let round = 0;

async function repeat(name: string, attack: Attack): Promise<void> {
  const kind = kindOf(name);
  const answers = counts.get(kind) ?? new Map<string, number>();
  counts.set(kind, answers);
  for (const own = round; own === round; ) {
    const answer = await attack().catch((error: NodeJS.ErrnoException) => error.code ?? 'error');
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    await wait(random.float() * restMs);
  }
}

process.on('message', (word: string) => {
  if (word === 'stop') round += 1;
  if (word.startsWith('start')) {
    round += 1;
    const wanted = word.slice('start '.length);
    for (const [name, attack] of Object.entries(attacks)) {
      if (wanted === '' || kindOf(name) === wanted) void repeat(name, attack);
    }
  }
  if (word !== 'count') return;
  const text = (answers: Map<string, number>) =>
    [...answers].map(([answer, count]) => `${answer}: ${count}`).join(', ');
  process.send?.(Object.fromEntries([...counts].map(([name, answers]) => [name, text(answers)])));
});
process.once('disconnect', () => process.exit(0));
process.send?.([...new Set(Object.keys(attacks).map(kindOf))]);

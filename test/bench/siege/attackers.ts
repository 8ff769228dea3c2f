// The attacking process of the siege: makes what it attacks with, waits for 'start', then runs all attacks
// at once until it is ended; 'count' has it send what it was answered.
import { setTimeout as wait } from 'node:timers/promises';
import { seededRandom } from '../../../src/runtime/random.ts';
import { Api } from './api.ts';
import { httpAttacks } from './http-attacks.ts';
import { seedContents } from './seed-contents.ts';
import type { Siege } from './siege.ts';
import { smtpAttacks } from './smtp-attacks.ts';
import { webhookAttacks } from './webhook-attacks.ts';

/** One attack, again and again; resolves with what it was answered. */
export type Attack = () => Promise<string>;

const siege = JSON.parse(process.argv[2] ?? '{}') as Siege;
const random = seededRandom(siege.seed);
const api = new Api(siege.httpPort);
/** Between two of the same attack: 0 to this. */
const restMs = 1000;

const seeded = await seedContents(siege, api);
const attacks: Record<string, Attack> = {
  ...smtpAttacks(siege),
  ...httpAttacks(siege, api, seeded),
  ...(await webhookAttacks(siege, api)),
};
const counts = new Map<string, Map<string, number>>();

async function repeat(name: string, attack: Attack): Promise<never> {
  // Those that differ by their number alone are counted together.
  const kind = name.replace(/ \d+$/, '');
  const answers = counts.get(kind) ?? new Map<string, number>();
  counts.set(kind, answers);
  for (;;) {
    const answer = await attack().catch((error: NodeJS.ErrnoException) => error.code ?? 'error');
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    await wait(random.float() * restMs);
  }
}

process.on('message', (word) => {
  if (word === 'start') {
    for (const [name, attack] of Object.entries(attacks)) void repeat(name, attack);
    return;
  }
  const text = (answers: Map<string, number>) =>
    [...answers].map(([answer, count]) => `${answer}: ${count}`).join(', ');
  process.send?.(Object.fromEntries([...counts].map(([name, answers]) => [name, text(answers)])));
});
process.once('disconnect', () => process.exit(0));
process.send?.('ready');

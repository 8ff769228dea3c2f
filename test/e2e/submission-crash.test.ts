// SIGKILL while 200 submitted mails are between DATA and 250, at random points: a mail with a 250
// is stored after the restart, and no mail is stored twice. CRASH_SEED=<the seed in the name of a
// failed test> repeats its round; CRASH_ROUNDS=50 is a soak.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { seededRandom } from '../../src/platform/runtime/random.ts';
import { idIn, logIn } from '../submission/submission-service.ts';
import {
  type DaemonHome,
  type DaemonProcess,
  daemonHome,
  until,
} from '../support/daemon-process.ts';
import { type Dialogue, smtpDialogue } from '../support/smtp-dialogue.ts';

const givenSeed = process.env.CRASH_SEED;
const firstSeed = Number(givenSeed ?? Math.floor(Math.random() * 1_000_000));
const rounds = givenSeed ? 1 : Number(process.env.CRASH_ROUNDS ?? 1);
const seeds = Array.from({ length: rounds }, (_, round) => firstSeed + round);
const mails = 200;

interface Page {
  items: Message[];
  pagination: { total: number };
}

describe('SIGKILL in the middle of 200 submissions', () => {
  let home: DaemonHome;
  let daemon: DaemonProcess;
  beforeAll(async () => {
    home = daemonHome({ SVC_SMTP_SUBMISSION_ENABLED: 'true', SVC_SMTP_SUBMISSION_PORT: '0' });
    daemon = await home.start();
  });
  afterAll(() => home.close());

  const subjectOf = (seed: number, index: number) => `round ${seed} mail ${index}`;

  /** Opens a session that has sent its message, except the final dot. */
  async function begun(seed: number, index: number): Promise<Dialogue> {
    const dialogue = await smtpDialogue(daemon.submissionPort ?? 0);
    await dialogue.reply();
    await dialogue.say('EHLO client.example');
    expect(await logIn(dialogue, home.apiKey)).toMatch(/^235 /);
    await dialogue.say('MAIL FROM:<>');
    await dialogue.say(`RCPT TO:<user${index}@example.com>`);
    expect(await dialogue.say('DATA')).toMatch(/^354 /);
    const subject = `Subject: ${subjectOf(seed, index)}\r\n`;
    dialogue.write(`From: hello@sandbox.test\r\n${subject}\r\n${'text\r\n'.repeat(200)}`);
    return dialogue;
  }

  async function stored(startDate: string): Promise<Message[]> {
    const found: Message[] = [];
    for (let page = 1; ; page++) {
      const path = `/v1/messages?direction=outbound&startDate=${startDate}&limit=100&page=${page}`;
      const { body } = await daemon.request<Page>('GET', path);
      found.push(...body.items);
      if (found.length >= body.pagination.total) return found;
    }
  }

  it.each(seeds)(
    'loses no answered mail, and stores none twice (CRASH_SEED=%i)',
    async (seed) => {
      const random = seededRandom(seed);
      const startDate = new Date().toISOString();
      const dialogues: Dialogue[] = [];
      for (let index = 0; index < mails; index += 1) dialogues.push(await begun(seed, index));
      const answered = new Map<number, string>();
      const killAt = Math.floor(random.float() * mails);
      const ends = dialogues.map(async (dialogue, index) => {
        dialogue.write('.\r\n');
        const reply = await dialogue.reply().catch(() => null);
        if (reply !== null) answered.set(index, idIn(reply));
      });
      await until(() => answered.size >= killAt, `answer ${killAt}`);
      await daemon.kill();
      await Promise.all(ends);
      for (const dialogue of dialogues) dialogue.end();

      daemon = await home.start();
      const messages = await stored(startDate);
      const bySubject = Map.groupBy(messages, ({ subject }) => subject);
      for (let index = 0; index < mails; index += 1) {
        const found = bySubject.get(subjectOf(seed, index)) ?? [];
        expect(found.length).toBeLessThanOrEqual(1);
        const id = answered.get(index);
        if (id !== undefined) expect(found.map((message) => message.id)).toEqual([id]);
      }
      expect(messages.length).toBeGreaterThanOrEqual(answered.size);
    },
    120_000,
  );
});

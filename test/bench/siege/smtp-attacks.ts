// The attacks of one address over SMTP: mails that cost much to read, and DATA that never ends.
import { setTimeout as wait } from 'node:timers/promises';
import { type Dialogue, smtpDialogue } from '../../support/smtp-dialogue.ts';
import type { Attack } from './attackers.ts';
import type { Siege } from './siege.ts';

const attacker = '127.0.1.1';
const folds = 64_000;
const marks = 50_000;
const heldTransactions = 20;
/** Bytes of an unfinished DATA: several of them fill the memory for incoming mail. */
const heldBytes = 12_800_000;
const trickleMs = 1000;

const head = (siege: Siege, subject: string) =>
  `From: x@attacker.example\r\nTo: ${siege.address}\r\nSubject: ${subject}\r\n`;

/** Opens a session and leads it up to the 354. */
async function begin({ smtpPort, address }: Siege): Promise<Dialogue> {
  const dialogue = await smtpDialogue(smtpPort, attacker);
  await dialogue.reply();
  const lines = [
    'EHLO attacker.example',
    'MAIL FROM:<x@attacker.example>',
    `RCPT TO:<${address}>`,
    'DATA',
  ];
  for (const line of lines) await dialogue.say(line);
  return dialogue;
}

/** Sends a mail; resolves with the code of the reply. */
export async function deliver(siege: Siege, text: string): Promise<string> {
  const dialogue = await begin(siege);
  try {
    return (await dialogue.say(`${text}\r\n.`)).slice(0, 3);
  } finally {
    dialogue.end();
  }
}

async function holdData(siege: Siege): Promise<string> {
  const dialogue = await begin(siege);
  const line = `${'x'.repeat(998)}\r\n`;
  dialogue.write(head(siege, 'Held').concat('\r\n', line.repeat(heldBytes / line.length)));
  const ended = dialogue.reply().catch(() => 'closed');
  for (;;) {
    const answer = await Promise.race([ended, wait(trickleMs, '')]);
    if (answer !== '') return answer.slice(0, 3);
    dialogue.write('x\r\n');
  }
}

export function smtpAttacks(siege: Siege): Record<string, Attack> {
  const folded = `${head(siege, 'Folded')}X-A: a${'\r\n a'.repeat(folds)}\r\n\r\nText`;
  const marked = `${head(siege, 'Marks')}Content-Type: text/plain; charset=utf-8\r\n\r\n${lines(
    '\u0315\u0300\u05ae\u0301'.repeat(marks),
  )}`;
  const held = Object.fromEntries(
    Array.from({ length: heldTransactions }, (_, n) => [`held DATA ${n}`, () => holdData(siege)]),
  );
  return {
    'folded header': () => deliver(siege, folded),
    'combining marks': () => deliver(siege, marked),
    ...held,
  };
}

/** Splits a text into lines of at most 400 characters, within the limit of SMTP. */
function lines(text: string): string {
  return text.replace(/.{400}/gu, '$&=\r\n').replaceAll('=\r\n', '\r\n');
}

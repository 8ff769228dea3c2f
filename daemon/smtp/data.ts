// Receives the bytes of DATA into bounded memory and passes them on. The reply waits for the
// decision on the mail. If a client disconnects before the end of the message, nothing is stored.
import type { SMTPServerDataStream } from 'smtp-server';
import { sliceTurns } from '../../src/platform/runtime/fairness/loop-turns.ts';
import { SmtpRefusal } from './errors.ts';
import type { MailCollector } from './mail-collector.ts';
import { hangUp, type Session, type Sessions } from './sessions.ts';

/** Operation name for `sliceTurns`: large messages of many clients share the event loop. */
const operation = 'receive mail data';

export type Answer = (refusal: SmtpRefusal | null, text?: string) => void;

/** Decision on a message: accepted with `text` if `refusal` is null. */
export interface Taken {
  refusal: SmtpRefusal | null;
  /** Text of the 250. */
  text: string;
}

/** Collects the bytes of a message, passes the complete message to `take`, and answers. */
export function collectData(
  sessions: Sessions,
  session: Session,
  stream: SMTPServerDataStream,
  collector: MailCollector,
  take: (raw: Buffer) => Promise<Taken>,
  answer: Answer,
): void {
  session.phase = 'receiving';
  collector.begin((refusal) => hangUp(session, refusal));
  stream.on('data', (chunk: Buffer) => {
    collector.add(chunk);
    if (collector.refusal && collector.isEndless) hangUp(session, collector.refusal);
    const later = sliceTurns(operation, session.address);
    if (later === undefined) return;
    stream.pause();
    void later.then(() => stream.resume());
  });
  stream.on('error', () => {});
  stream.on('close', () => {
    if (!stream.readableEnded) collector.release();
  });
  const settle = (refusal: SmtpRefusal | null, text?: string) => {
    collector.release();
    sessions.answer(session, () => answer(refusal, text));
  };
  const finish = async () => {
    await sliceTurns(operation, session.address);
    const { refusal, text } = await take(collector.finish());
    settle(refusal, text);
  };
  stream.on('end', () => {
    session.phase = 'working';
    if (collector.refusal) settle(new SmtpRefusal(collector.refusal));
    else void finish();
  });
}

// Receives the bytes of DATA into bounded memory and passes them on. The answer waits for the decision. A
// client that leaves before the end of its message leaves nothing.
import type { SMTPServerDataStream } from 'smtp-server';
import { SmtpRefusal } from './errors.ts';
import type { MailCollector } from './mail-collector.ts';
import { hangUp, type Session, type Sessions } from './sessions.ts';

export type Answer = (refusal: SmtpRefusal | null, text?: string) => void;

/** The result of a message. */
export interface Taken {
  refusal: SmtpRefusal | null;
  /** Text of the 250. */
  text: string;
}

/** Collects the message and passes it on once it is whole. */
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
  });
  stream.on('error', () => {});
  stream.on('close', () => {
    if (!stream.readableEnded) collector.release();
  });
  const settle = (refusal: SmtpRefusal | null, text?: string) => {
    collector.release();
    sessions.answer(session, () => answer(refusal, text));
  };
  stream.on('end', () => {
    session.phase = 'working';
    if (collector.refusal) settle(new SmtpRefusal(collector.refusal));
    else void take(collector.finish()).then(({ refusal, text }) => settle(refusal, text));
  });
}

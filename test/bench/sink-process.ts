// The receiving side of the benchmark in a process of its own: counts messages and those of them
// that are signed, and tells its parent.
import { startSmtpSink } from '../support/smtp-sink.ts';

const sink = await startSmtpSink({ tls: false });
let signed = 0;

/** Looks at what came only when asked, after the race; then lets it go. */
function takeStock(): void {
  for (const { raw } of sink.messages) if (raw.includes('DKIM-Signature:')) signed++;
  for (const list of [sink.messages, sink.commands]) (list as unknown[]).length = 0;
}

function tell(error?: string): void {
  takeStock();
  process.send?.({ received: sink.received, signed, error });
}

process.send?.({ port: sink.port });
process.on('message', ({ count, deadlineMs }: { count: number; deadlineMs: number }) => {
  void sink.waitFor(count, deadlineMs).then(
    () => tell(),
    (error: Error) => tell(error.message),
  );
});
process.once('disconnect', () => void sink.close().then(() => process.exit(0)));

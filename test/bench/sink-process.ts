// The receiving side of the benchmark in a process of its own: counts messages, tells its parent.
import { startSmtpSink } from '../support/smtp-sink.ts';

const sink = await startSmtpSink({ keep: false, tls: false });
process.send?.({ port: sink.port });
process.on('message', (wanted: { count: number }) => {
  void sink.waitFor(wanted.count, 600_000).then(
    () => process.send?.({ received: sink.received }),
    (error: Error) => process.send?.({ received: sink.received, error: error.message }),
  );
});
process.once('disconnect', () => void sink.close().then(() => process.exit(0)));

// `svc webhooks listen`: events as they happen, on this machine (src/webhooks/listen.ts).
import { Flags } from '@oclif/core';
import type { Heard } from '../../src/webhooks/listen.ts';
import { BaseCommand } from '../base/command.ts';
import { jsonText } from '../base/input/json-text.ts';
import { rangeFrom, startFlag } from '../base/input/since.ts';
import { keptAlive } from '../base/keep-alive.ts';
import { writeLine } from '../base/output/output.ts';
import { withCaller } from '../base/session.ts';
import { firstStopSignal } from '../base/signals.ts';

function lineOf({ event, outcome }: Heard): string {
  const parts = [new Date(event.timestamp).toISOString(), event.type, event.subject];
  if (outcome === null) return parts.join('  ');
  const { statusCode, errorClass, response, durationMs } = outcome;
  const answer = statusCode === null ? `${errorClass}: ${response}` : `→ ${statusCode}`;
  return [...parts, answer, `${durationMs} ms`].join('  ');
}

export default class WebhooksListen extends BaseCommand {
  static override summary = 'Follow events, and post them to a local program';

  static override description =
    'Reads the store, with or without a running daemon: no tunnel, no endpoint. Posts ' +
    'are signed with a secret that stays the same for this store (--print-secret). Ends ' +
    'with Ctrl-C.';

  static override examples = [
    {
      description: 'Post events to a receiver in development',
      command: 'svc webhooks listen --forward-to http://localhost:3000/hooks',
    },
    { description: 'Print the secret', command: 'svc webhooks listen --print-secret' },
  ];

  static override flags = {
    'forward-to': Flags.string({
      description: 'Post to this URL of this machine (default: only show events)',
      helpValue: 'URL',
    }),
    event: Flags.string({
      aliases: ['events'],
      description: 'Only this kind, or several separated by commas, such as message.*',
      helpValue: 'KIND',
      multiple: true,
      multipleNonGreedy: true,
      delimiter: ',',
    }),
    ...startFlag('past and new events'),
    'print-secret': Flags.boolean({ description: 'Print the secret and end' }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(WebhooksListen);
    await withCaller(flags, async (app, { organizationId }) => {
      const { listen, listenSecret } = await import('../../src/webhooks/listen.ts');
      if (flags['print-secret']) return writeLine(listenSecret(app, organizationId));
      const { after } = rangeFrom(flags, app.clock.now());
      const stopping = new AbortController();
      void firstStopSignal().then(() => stopping.abort());
      const options = {
        organizationId,
        forwardTo: flags['forward-to'] ?? null,
        patterns: flags.event ?? ['*'],
        since: after === undefined ? undefined : Date.parse(after),
        signal: stopping.signal,
      };
      await keptAlive(() =>
        listen(app, options, (heard) => writeLine(flags.json ? jsonText(heard, 0) : lineOf(heard))),
      );
    });
  }
}

// `svc webhooks listen`: events as they happen, on this machine (src/webhooks/listen.ts).
import { Flags } from '@oclif/core';
import type { Heard, ListenOptions } from '../../src/webhooks/listen.ts';
import type { Session } from '../base/asking.ts';
import { BaseCommand } from '../base/command.ts';
import { jsonText } from '../base/input/json-text.ts';
import { rangeFrom, startFlag } from '../base/input/since.ts';
import { keptAlive } from '../base/keep-alive.ts';
import { writeLine } from '../base/output/output.ts';
import { withSession } from '../base/route.ts';
import { firstStopSignal } from '../base/signals.ts';

function lineOf({ event, outcome }: Heard): string {
  const parts = [event.timestamp, event.type, event.subject];
  if (outcome === null) return parts.join('  ');
  const { statusCode, errorClass, response, durationMs } = outcome;
  const answer = statusCode === null ? `${errorClass}: ${response}` : `→ ${statusCode}`;
  return [...parts, answer, `${durationMs} ms`].join('  ');
}

export default class WebhooksListen extends BaseCommand {
  static override asksServer = true;

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
    const stopping = new AbortController();
    const { signal } = stopping;
    await withSession(flags, async (session) => {
      if (flags['print-secret']) return writeLine(await secretOf(session));
      const { after } = rangeFrom(flags, session.now());
      void firstStopSignal().then(() => stopping.abort());
      const options = {
        forwardTo: flags['forward-to'] ?? null,
        patterns: flags.event ?? ['*'],
        signal,
      };
      const report = (heard: Heard) => writeLine(flags.json ? jsonText(heard, 0) : lineOf(heard));
      await keptAlive(() => heardBy(session, { ...options, after }, report));
    });
  }
}

async function secretOf({ local, server }: Session): Promise<string> {
  if (local) {
    const { listenSecret } = await import('../../src/webhooks/listen.ts');
    return listenSecret(local.app, local.caller.organizationId);
  }
  const { listenSecretOf } = await import('../base/remote/events.ts');
  return listenSecretOf(server);
}

/** Reports each matching event, and posts it with `forwardTo`, until `signal` aborts. */
async function heardBy(
  session: Session,
  {
    after,
    ...options
  }: Pick<ListenOptions, 'forwardTo' | 'patterns' | 'signal'> & {
    after: string | undefined;
  },
  report: (heard: Heard) => void,
): Promise<void> {
  const { checkListening, forward, listen } = await import('../../src/webhooks/listen.ts');
  const { local, server } = session;
  if (local) {
    const { organizationId } = local.caller;
    const since = after === undefined ? undefined : Date.parse(after);
    return listen(local.app, { ...options, organizationId, since }, report);
  }
  checkListening(options);
  const { comingFrom, posterParts } = await import('../base/remote/events.ts');
  const parts = await posterParts(server);
  const { forwardTo, patterns, signal } = options;
  const events = comingFrom(server, { type: patterns.join(','), after, signal });
  const secret = await secretOf(session);
  await forward(parts, events, { forwardTo, secret, signal }, report).finally(() => parts.close());
}

// A service that relays to a real sink, and the requests of recipients' mail programs.
import type { Caller } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import type { LinkAnswer, LinkRequest } from '../../../src/core/link-pages/link-page.ts';
import { channelStats } from '../../../src/identity/reputation/stats.ts';
import { parseMime } from '../../../src/mail/parse/parse-mime.ts';
import { listMessageEvents } from '../../../src/outbound/messages/messages.ts';
import { serveTracked } from '../../../src/outbound/tracking/serve.ts';
import type { TestStore } from '../../support/command.ts';
import { type RunningPipeline, startPipeline } from '../../support/delivery.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { type TestApp, testApp } from '../../support/test-app.ts';

export const publicUrl = 'https://click.example.com';
export const person =
  'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0';

export const tracked = { opens: true, clicks: true };
export const page =
  '<html><body><p>Hello</p><a href="https://shop.example/a?x=1&amp;y=2">A</a>' +
  '<a href="https://shop.example/b">B</a></body></html>';

/** A copy at its recipient. */
export interface Copy {
  recipients: readonly string[];
  html: string;
  /** Path of the pixel, or ''. */
  pixel: string;
  /** Paths of the links, in order. */
  links: string[];
}

export interface TrackingWorld extends TestApp {
  sink: SmtpSink;
  pipeline: RunningPipeline;
  /** Returns all copies at the sink, in the order of their first recipients. */
  copies(count: number): Promise<Copy[]>;
  /** Requests a path as a person does, unless `more` differs. */
  ask(path: string, more?: Partial<LinkRequest>): Promise<LinkAnswer | null>;
  close(): Promise<void>;
}

export async function trackingWorld(store: TestStore = 'sqlite'): Promise<TrackingWorld> {
  const sink = await startSmtpSink();
  const relay = { host: sink.host, port: sink.port };
  const test = await testApp({
    store,
    config: { delivery: { mode: 'relay', relay }, tracking: { publicUrl } },
  });
  const pipeline = await startPipeline(test.app);
  return {
    ...test,
    sink,
    pipeline,
    async copies(count) {
      const messages = await sink.waitFor(count);
      await pipeline.idle();
      const copies = await Promise.all(
        messages.map(({ recipients, raw }) => copyOf(recipients, raw)),
      );
      return copies.sort((a, b) => `${a.recipients}`.localeCompare(`${b.recipients}`));
    },
    ask: (path, more) => ask(test.app, path, more),
    async close() {
      await pipeline.close();
      await test.close();
      await sink.close();
    },
  };
}

export function ask(
  app: App,
  path: string,
  { headers, ...more }: Partial<LinkRequest> = {},
): Promise<LinkAnswer | null> {
  return serveTracked(app, {
    method: 'GET',
    path,
    headers: headers ?? { 'user-agent': person },
    remoteAddress: '198.51.100.7',
    ...more,
  });
}

async function copyOf(recipients: readonly string[], raw: Buffer): Promise<Copy> {
  const html = (await parseMime(raw)).html ?? '';
  const paths = [...html.matchAll(/https:\/\/click\.example\.com(\/t\/[oc]\/[^"'\s>]+)/g)].map(
    ([, path = '']) => path,
  );
  return {
    recipients,
    html,
    pixel: paths.find((path) => path.startsWith('/t/o/')) ?? '',
    links: paths.filter((path) => path.startsWith('/t/c/')),
  };
}

/** Lists `eventType:status`, with a star for machines. */
export async function engagement(app: App, caller: Caller, id: string): Promise<string[]> {
  const events = await listMessageEvents(app, caller, id);
  return events
    .filter(({ eventType }) => eventType === 'opened' || eventType === 'clicked')
    .map(({ eventType, status, metadata }) => {
      return `${eventType}:${status}${metadata['automated'] === true ? '*' : ''}`;
    });
}

/** Returns opened of eligible, and clicked of eligible. */
export async function cohorts(app: App, caller: Caller): Promise<string> {
  const { email } = await channelStats(app, caller, {});
  const opens = `${email.uniqueOpenedMessages}/${email.openTrackingEligibleDeliveredMessages}`;
  const clicks = `${email.uniqueClickedMessages}/${email.clickTrackingEligibleDeliveredMessages}`;
  return `opened ${opens}, clicked ${clicks}`;
}

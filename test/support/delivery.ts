// A running pipeline over a test app, with helpers that send and read.

import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { loadProviders } from '../../src/mail/smtp/load-providers.ts';
import { getMessage, listMessageEvents } from '../../src/outbound/messages/messages.ts';
import type { Message } from '../../src/outbound/messages/schema.ts';
import { type SendPayload, sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { createAttempter } from '../../src/outbound/queue/attempting/attempter.ts';
import { openCarrierHere } from '../../src/outbound/queue/carrier/carrier.ts';
import type { LaneChoice } from '../../src/outbound/queue/claiming/claim.ts';
import { Lanes } from '../../src/outbound/queue/lanes/lanes.ts';
import { Shares } from '../../src/outbound/queue/lanes/shares.ts';
import { createPipeline, type Pipeline } from '../../src/outbound/queue/loop.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';

/** Time after which a burst of sends has ended and deliveries no longer yield to it. */
export const burstOverMs = 200;

export interface RunningPipeline extends Pipeline {
  /** Stops as a daemon does. Waits `graceMs` for attempts in flight, by default not at all. */
  close(graceMs?: number): Promise<void>;
}

/** Starts delivery; local mail goes to `localPort` on loopback. */
export async function startPipeline(
  app: App,
  { worker = 'wrk_test', localPort = 1 } = {},
): Promise<RunningPipeline> {
  const attempter = createAttempter(app, { host: '127.0.0.1', port: localPort }, openCarrierHere);
  const pipeline = createPipeline(app, { worker, ...attempter });
  await pipeline.start();
  return {
    ...pipeline,
    async close(graceMs = 0) {
      await pipeline.stop(graceMs);
      await attempter.close();
    },
  };
}

/** Returns a valid payload, changed by the given fields. */
export function payloadFor(
  to: string | readonly string[],
  more: Partial<SendPayload> & { email?: Partial<SendPayload['email']> } = {},
): SendPayload {
  const { email, ...rest } = more;
  return sendPayload.parse({
    channel: 'email',
    to: [to].flat().map((one) => ({ email: one })),
    email: { subject: 'Hello', text: 'It works.\n', ...email },
    ...rest,
  });
}

/** Sends as the caller. */
export function send(
  app: App,
  caller: Caller,
  to: string | readonly string[],
  more: Parameters<typeof payloadFor>[1] = {},
): Promise<Message> {
  return sendMessage(app, caller, payloadFor(to, more), null);
}

/** Lists `eventType:status` of the timeline, in order. */
export async function timeline(app: App, caller: Caller, id: string): Promise<string[]> {
  const events = await listMessageEvents(app, caller, id);
  return events.map(({ eventType, status }) => `${eventType}:${status}`);
}

/** Returns the first delivery of a message. */
export async function firstDelivery(app: App, caller: Caller, id: string) {
  const [delivery] = (await getMessage(app, caller, id)).deliveries;
  if (!delivery) throw new Error(`${id} has no delivery`);
  return delivery;
}

/** Returns lanes without limits. */
export function noLimits({ clock, random }: App): LaneChoice {
  const lanes = new Lanes(clock, random, loadProviders(null, 10));
  return { lanes, shares: new Shares(clock), laneOf: () => null, soleLane: null };
}

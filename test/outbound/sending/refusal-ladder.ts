// All refusals of a send at its acceptance, in the order of the checks: each step comes before the
// later ones until it is lifted. HTTP and submission both climb it.

import { updateKey } from '../../../src/access/keys/keys.ts';
import { reviewOnboarding } from '../../../src/access/organizations/onboarding.ts';
import {
  pauseOrganization,
  updateOrganization,
} from '../../../src/access/organizations/organizations.ts';
import { updateSender } from '../../../src/identity/senders/senders.ts';
import { resumeSending } from '../../../src/outbound/queue/desk/resume.ts';
import { isoTime } from '../../../src/platform/runtime/clock.ts';
import { onPlan, useToday } from '../../access/admission/fixtures.ts';
import type { CheckedWorld } from './checked-world.ts';

export const narrow = { senders: ['other@acme.example'] };

export interface LadderStep {
  /** Status on the HTTP face. */
  status: number;
  words: RegExp;
  /** True where a mail cannot express the refused part. */
  isHttpOnly?: boolean;
  lift(): unknown;
}

export interface RefusalLadder {
  /** The request to send; a lift changes it. */
  request: { apiKey: string; path: string; top: Record<string, unknown> };
  steps: LadderStep[];
}

export async function refusalLadder(world: CheckedWorld): Promise<RefusalLadder> {
  const { test } = world;
  const { app, operator } = test;
  const setActive = (isActive: boolean) =>
    updateSender(app, operator, world.senderId, { isActive });
  const tester = await world.key({ role: 'sender', mode: 'test', constraints: narrow });
  const live = await world.key();
  await onPlan(test, 'free');
  await useToday(test, 1_000);
  await reviewOnboarding(app, 'default', { verdict: 'rejected' });
  await setActive(false);
  await pauseOrganization(app, 'default', {});
  const conversationId = 'conv_0123456789abcdefghjk';
  const request: RefusalLadder['request'] = {
    apiKey: tester.plaintext,
    path: '/v1/messages/scheduled',
    top: { conversationId, scheduledFor: isoTime(0) },
  };
  const now = () => ({ scheduledFor: isoTime(test.clock.now()) });
  const steps: LadderStep[] = [
    { status: 422, words: /is past/, lift: () => Object.assign(request.top, now()) },
    {
      status: 404,
      words: /conv_/,
      isHttpOnly: true,
      lift: () => {
        request.top = now();
      },
    },
    { status: 403, words: /Sending is paused/, lift: () => resumeSending(app, 'default') },
    { status: 403, words: /this sender is inactive/, lift: () => setActive(true) },
    {
      status: 403,
      words: /This key may not send from/,
      lift: () => updateKey(app, operator, tester.id, { constraints: null }),
    },
    {
      status: 403,
      words: /A test key sends only/,
      lift: () => {
        request.apiKey = live.plaintext;
      },
    },
    {
      status: 403,
      words: /onboarding review rejected/,
      // Scheduled mail meets its quota on its day: the last two steps are of immediate sends.
      lift: () => Object.assign(request, { path: '/v1/messages', top: {} }),
    },
    {
      status: 403,
      words: /onboarding review rejected/,
      lift: () => reviewOnboarding(app, 'default', { verdict: 'approved' }),
    },
    {
      status: 402,
      words: /daily-emails/,
      lift: () => updateOrganization(app, 'default', { plan: 'self-hosted' }),
    },
  ];
  return { request, steps };
}

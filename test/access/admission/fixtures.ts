// Fixtures of the admission tests: the organization `default` on a plan, its keys, sends as
// function calls, and `POST /v1/messages` with its limits.
import { limitsBy } from '../../../daemon/http/rate-limits.ts';
import { routes } from '../../../daemon/http/routes.ts';
import { createHttpServer } from '../../../daemon/http/server.ts';
import { admissionOf, type Drawer } from '../../../src/access/admission/admission.ts';
import { startOfDay } from '../../../src/access/admission/plans.ts';
import { findUsage, usage } from '../../../src/access/admission/queries.ts';
import { createAuthenticator } from '../../../src/access/keys/authenticator.ts';
import { updateOrganization } from '../../../src/access/organizations/organizations.ts';
import type { Caller, Route } from '../../../src/core/api/route.ts';
import type { App } from '../../../src/core/app.ts';
import { sendPayload } from '../../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../../src/outbound/sending/send.ts';
import { RateLimitedError, ServiceError } from '../../../src/platform/errors.ts';
import { payload } from '../../outbound/messages/fixtures.ts';
import { openApiCheck } from '../../support/openapi-check.ts';
import type { TestApp } from '../../support/test-app.ts';

/** Table of specification 8.1 and 8.2. */
export const planTable = [
  { plan: 'free', rate: 5, burst: 10, keyBurst: 5, daily: 1_000 },
  { plan: 'starter', rate: 10, burst: 20, keyBurst: 10, daily: 5_000 },
  { plan: 'growth', rate: 25, burst: 50, keyBurst: 25, daily: 20_000 },
  { plan: 'scale', rate: 50, burst: 100, keyBurst: 50, daily: 100_000 },
] as const;

export const dayMs = 24 * 3_600_000;

/** Puts `default` on a plan: paid and older than a day, unless the options differ. */
export async function onPlan(
  test: TestApp,
  plan: string,
  { paymentMethodOnFile = true, isNew = false } = {},
): Promise<void> {
  await updateOrganization(test.app, 'default', { plan, paymentMethodOnFile });
  if (!isNew) await test.clock.advance(dayMs);
}

/** Creates `count` keys of the organization, as admission sees them. */
export function drawers(test: TestApp, count: number): Drawer[] {
  const { organizationId } = test.caller;
  return Array.from({ length: count }, (_, index) => ({ organizationId, keyId: `key_${index}` }));
}

/** Returns null when admitted, else Retry-After in seconds. */
export async function ask(app: App, drawer: Drawer): Promise<number | null> {
  return secondsOf(admissionOf(app).admit(drawer, 'sendMessage'));
}

/** Draws like the batch operation: one before the body, the rest when it runs. */
export async function askBatch(app: App, drawer: Drawer, count: number): Promise<number | null> {
  const admission = admissionOf(app);
  const first = await secondsOf(admission.admit(drawer, 'sendMessageBatch', { isBatch: true }));
  if (first !== null) return first;
  return secondsOf(admission.admitBatch(drawer, count, 'sendMessageBatch'));
}

async function secondsOf(admitted: Promise<void>): Promise<number | null> {
  try {
    await admitted;
    return null;
  } catch (error) {
    if (error instanceof RateLimitedError) return error.retryAfterSeconds;
    throw error;
  }
}

/** Draws until refused, and counts the admitted requests. */
export async function drain(app: App, drawer: Drawer): Promise<number> {
  let admitted = 0;
  while ((await ask(app, drawer)) === null) admitted++;
  return admitted;
}

/** Sends to `recipients` addresses, and returns the error or null. */
export async function send(
  app: App,
  caller: Caller,
  { recipients = 1, idempotencyKey = null as string | null, top = {} } = {},
): Promise<Record<string, unknown> | null> {
  const to = Array.from({ length: recipients }, (_, index) => ({ email: `r${index}@example.com` }));
  const body = sendPayload.parse(payload({}, { to, ...top }));
  try {
    await sendMessage(app, caller, body, idempotencyKey);
    return null;
  } catch (error) {
    if (error instanceof ServiceError) return error.toJSON();
    throw error;
  }
}

/** Reads the emails and messages counted for the organization today. */
export async function usedToday({ app, clock, caller }: TestApp) {
  const [row] = await findUsage(app.store.db, [caller.organizationId], startOfDay(clock.now()));
  return { emails: row?.emails ?? 0, messages: row?.messages ?? 0 };
}

/** Counts `emails` as accepted today. */
export async function useToday(
  { app, clock, caller }: Pick<TestApp, 'app' | 'clock' | 'caller'>,
  emails: number,
): Promise<void> {
  const day = startOfDay(clock.now());
  const key = { organization_id: caller.organizationId, day, shard: 0 };
  await app.store.write(async (trx) => usage.add(trx, key, { emails, messages: emails }));
}

export interface LimitedApi {
  post(
    body: unknown,
    options?: { apiKey?: string; headers?: Record<string, string> },
  ): Promise<{
    status: number;
    headers: Record<string, unknown>;
    body: Record<string, unknown>;
  }>;
  close(): Promise<void>;
}

const sendRoutes = routes.filter(({ path }) => path === '/v1/messages');

/**
 * Serves `POST /v1/messages` like the daemon, and checks each response against the OpenAPI
 * document.
 */
export function limitedApi({ app, apiKey: ownKey }: TestApp, more: Route[] = []): LimitedApi {
  const authenticator = createAuthenticator(app);
  const served = [...sendRoutes, ...more];
  const check = openApiCheck(served);
  const server = createHttpServer(app, {
    routes: served,
    authenticate: (plaintext) => authenticator.authenticate(plaintext),
    ...limitsBy(admissionOf(app)),
    isQueueRunning: () => true,
    onResponse: check.onResponse,
  });
  return {
    async post(body, { apiKey = ownKey, headers = {} } = {}) {
      const response = await server.inject({
        method: 'POST',
        url: more[0]?.path ?? '/v1/messages',
        headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      });
      if (check.faults.length > 0) throw new Error(check.faults.join('\n'));
      return { status: response.statusCode, headers: response.headers, body: response.json() };
    },
    close: () => server.close(),
  };
}

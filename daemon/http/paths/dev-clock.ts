// `/dev/clock` of a daemon with a virtual clock: reads and moves the clock. Not in the API, as a
// daemon that delivers real mail never has it. Accepts only callers on this machine: with an owner
// key of the first organization, or with the token in the data directory.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getFirstOrganization } from '../../../src/access/organizations/organizations.ts';
import { ForbiddenError } from '../../../src/platform/errors.ts';
import { isLoopbackAddress } from '../../../src/platform/net/network-address.ts';
import type { StandingClock } from '../../../src/platform/runtime/standing-clock.ts';
import { hashOfToken } from '../../../src/platform/runtime/tokens.ts';
import { clockState, moveClock } from '../../../src/service/virtual-clock/virtual-clock.ts';
import { parseJson } from '../body.ts';
import { authorize, type Dispatcher } from '../dispatch.ts';
import { visitorOf } from '../visitor.ts';

export interface DevClock {
  clock: StandingClock;
  /** Token by which commands on this machine are recognized. */
  token: string;
}

/** Limits bodies to the few fields of `POST /dev/clock`. */
const taken = { types: ['application/json'], mostBytes: 4_096 };
const commandsHolder = 'commands';

/** Mounts `GET /dev/clock` and `POST /dev/clock`. */
export function mountDevClock(
  server: FastifyInstance,
  dispatcher: Dispatcher,
  { clock, token }: DevClock,
): void {
  const tokenHash = hashOfToken(token);

  /**
   * Checks the caller. Returns the holder for whom the memory of the body is counted. @throws
   * UnauthorizedError, ForbiddenError
   */
  async function letIn(request: FastifyRequest): Promise<string> {
    if (!isLoopbackAddress(visitorOf(dispatcher.app, request.raw))) {
      throw new ForbiddenError('The clock is moved only from the machine of the daemon');
    }
    const { authorization = '' } = request.headers;
    if (hashOfToken(authorization.replace(/^Bearer +/i, '')) === tokenHash) return commandsHolder;
    const way = { method: 'POST', path: '/dev/clock', permission: 'organization:write' } as const;
    const caller = await authorize(dispatcher, way, request);
    const { id } = await getFirstOrganization(dispatcher.app.store.db);
    if (caller.roleName !== 'owner' || caller.organizationId !== id) {
      throw new ForbiddenError(
        'The clock is that of all: use an owner key of the first organization',
      );
    }
    return caller.organizationId;
  }

  server.get('/dev/clock', async (request) => {
    await dispatcher.workload.begin(() => letIn(request));
    return clockState(clock);
  });

  server.post('/dev/clock', async (request, reply) => {
    const holder = await dispatcher.workload.begin(() => letIn(request));
    const bytes = await dispatcher.bodies.read(holder, request.raw, reply.raw, taken);
    return moveClock(clock, parseJson(bytes) ?? {});
  });
}

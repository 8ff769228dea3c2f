// Serves the file behind a signed storage URL (specification 4.1). The token is the permission, without a
// key. Mail is hostile: it is shown in a sandbox without scripts or requests.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../src/core/app.ts';
import { readStoredPart } from '../../src/outbound/sending/stored-parts.ts';
import type { Workload } from './workload.ts';

const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** Images of received mail would report the reader to its sender. */
const sandboxOfOurs = `${sandbox} https:`;
const longestToken = 300;

/** Mounts `GET /storage/{token}`. */
export function mountStorage(server: FastifyInstance, app: App, workload: Workload): void {
  server.get<{ Params: { token: string } }>('/storage/:token', async (request, reply) => {
    const token = request.params.token.slice(0, longestToken);
    const part = await workload.begin(() => readStoredPart(app, token));
    const { contentType, filename, body, isOurs } = part;
    return reply
      .header('content-type', contentType)
      .header('content-disposition', `inline; filename="${filename}"`)
      .header('content-security-policy', isOurs ? sandboxOfOurs : sandbox)
      .header('referrer-policy', 'no-referrer')
      .send(body);
  });
}

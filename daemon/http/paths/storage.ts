// Serves the file behind a signed storage URL (specification 4.1). The token is the permission; no
// key is needed. Mail may be hostile, so it is shown in a sandbox without scripts or requests.
import type { FastifyInstance } from 'fastify';
import type { App } from '../../../src/core/app.ts';
import { readStoredPart } from '../../../src/outbound/sending/stored-parts.ts';
import { sliceTurns } from '../../../src/platform/runtime/fairness/loop-turns.ts';
import { reserveAnswer } from '../answer-memory.ts';
import type { Workload } from '../workload.ts';

const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
/** Allows images only in our own mail: in received mail they would reveal the reader. */
const sandboxOfOurs = `${sandbox} https:`;
const longestToken = 300;

/** Elements that open a connection before the content policy can refuse their content. */
const connecting = /<(\/?)(iframe|frame|frameset|object|embed|portal|link|base|meta)\b/gi;

/** Bytes of memory reserved for an answer before the size of the part is known. */
const firstReserved = 4_000_000;

/** Most bytes of a preview. The whole mail has a separate link. */
const longestPreview = 2 * 1024 * 1024;

/**
 * Returns the first 2 MB of a page, and renames the elements in it that could connect: Chromium
 * connects for a frame before it refuses to load the frame.
 */
export function withoutFrames(body: Buffer): Buffer {
  // Decodes bytes as single characters, so that text in any charset stays unchanged.
  const some = body.subarray(0, longestPreview).toString('latin1');
  return Buffer.from(some.replace(connecting, '<$1x-$2'), 'latin1');
}

/** Mounts `GET /storage/{token}`. */
export function mountStorage(server: FastifyInstance, app: App, workload: Workload): void {
  type Asked = { Params: { token: string }; Querystring: { preview?: string } };
  server.get<Asked>('/storage/:token', async (request, reply) => {
    const token = request.params.token.slice(0, longestToken);
    // A preview in the console loads no images from the network, which would reveal the reader.
    const isPreview = request.query.preview !== undefined;
    const { contentType, filename, body, isOurs } = await workload.begin(async () => {
      await sliceTurns('GET /storage/{token}');
      reserveAnswer(reply.raw, firstReserved);
      const part = await readStoredPart(app, token);
      reserveAnswer(reply.raw, part.body.length);
      return part;
    });
    return reply
      .header('content-type', contentType)
      .header('content-disposition', `inline; filename="${filename}"`)
      .header('content-security-policy', isOurs && !isPreview ? sandboxOfOurs : sandbox)
      .header('referrer-policy', 'no-referrer')
      .send(isPreview ? withoutFrames(body) : body);
  });
}

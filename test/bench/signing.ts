// `npx node test/bench/signing.ts`: where a DKIM signature is best made. One header of usual length
// is signed again and again, a few hundred at once as under load: on the event loop, on libuv's
// threads (callback form), and in a worker that gets batches. Figures are printed, never asserted.
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { sayLoad } from './progress.ts';

const algorithms = { rsa: 'sha256', ed25519: null } as const;
type Algorithm = keyof typeof algorithms;

/** Bytes of a canonical header with its DKIM-Signature field. */
const headerBytes = 700;
const atOnce = 300;
const batch = 32;
const counts: Record<Algorithm, number> = { rsa: 6_000, ed25519: 30_000 };

type SignMany = (headers: readonly Buffer[]) => Promise<unknown>;

interface WorkerOrder {
  pem: string;
  digest: string | null;
}

if (isMainThread) await measureAll();
else serve(workerData as WorkerOrder);

function serve({ pem, digest }: WorkerOrder): void {
  const key = createPrivateKey(pem);
  parentPort?.on('message', ({ id, headers }: { id: number; headers: Uint8Array[] }) => {
    const signatures = headers.map((header) => sign(digest, header, key));
    parentPort?.postMessage({ id, signatures });
  });
}

async function measureAll(): Promise<void> {
  sayLoad();
  const rows: Record<string, string | number>[] = [];
  for (const algorithm of Object.keys(algorithms) as Algorithm[]) {
    const digest = algorithms[algorithm];
    const { privateKey } =
      algorithm === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 })
        : generateKeyPairSync('ed25519');
    const onThreads = promisify<string | null, Buffer, KeyObject, Buffer>(sign);
    rows.push(
      await measure(algorithm, 'event loop', async (headers) => {
        for (const header of headers) sign(digest, header, privateKey);
      }),
      await measure(algorithm, "libuv's threads", (headers) =>
        Promise.all(headers.map((header) => onThreads(digest, header, privateKey))),
      ),
    );
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    for (const workers of [1, availableParallelism()]) {
      const pool = startPool({ pem, digest }, workers);
      rows.push(await measure(algorithm, `${workers} worker(s), batches`, pool.signMany));
      await pool.close();
    }
  }
  console.table(rows);
}

async function measure(algorithm: Algorithm, way: string, signMany: SignMany) {
  const headers = Array.from({ length: atOnce }, (_, index) => Buffer.alloc(headerBytes, index));
  const rounds = counts[algorithm] / atOnce;
  await signMany(headers);
  const loop = process.threadCpuUsage();
  const all = process.cpuUsage();
  const started = performance.now();
  for (let round = 0; round < rounds; round++) await signMany(headers);
  const seconds = (performance.now() - started) / 1_000;
  const signatures = rounds * atOnce;
  const loopUsed = process.threadCpuUsage(loop);
  const allUsed = process.cpuUsage(all);
  return {
    algorithm,
    way,
    'signatures/s': Math.round(signatures / seconds),
    'event loop µs each': Number(((loopUsed.user + loopUsed.system) / signatures).toFixed(1)),
    'all threads µs each': Number(((allUsed.user + allUsed.system) / signatures).toFixed(1)),
  };
}

/** Workers in turns, a batch each; each parses the key once. */
function startPool(order: WorkerOrder, count: number) {
  const waiting = new Map<number, () => void>();
  let next = 0;
  const workers = Array.from({ length: count }, () => {
    const worker = new Worker(new URL(import.meta.url), { workerData: order });
    worker.on('message', ({ id }: { id: number }) => {
      waiting.get(id)?.();
      waiting.delete(id);
    });
    return worker;
  });
  const signMany: SignMany = (headers) => {
    const batches: Promise<void>[] = [];
    for (let at = 0; at < headers.length; at += batch) {
      const id = next++;
      workers[id % count]?.postMessage({ id, headers: headers.slice(at, at + batch) });
      batches.push(new Promise((resolve) => waiting.set(id, resolve)));
    }
    return Promise.all(batches);
  };
  return { signMany, close: () => Promise.all(workers.map((worker) => worker.terminate())) };
}

// Reports the folder of the cache of compiled sources that its thread uses.
import { getCompileCacheDir } from 'node:module';
import { parentPort } from 'node:worker_threads';

parentPort?.postMessage(getCompileCacheDir() ?? 'none');

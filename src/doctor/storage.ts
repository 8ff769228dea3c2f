// Checks that files can be written, read and deleted at the configured place of large files.
import { selectDaemons } from '../access/admission/queries.ts';
import { placeOf } from '../core/blobs/blobs.ts';
import type { BlobPlace } from '../core/blobs/place.ts';
import { messageOf } from '../platform/errors.ts';
import { type Check, fail, ok, warn } from './finding.ts';

const probeKey = 'doctor/probe';
const probeBytes = 64;

/** Writes, reads and deletes a file at the place. @throws Error that names the failed operation */
async function probe(place: BlobPlace, content: Buffer): Promise<void> {
  await place.put(probeKey, content);
  const given = await place.get(probeKey, content.length);
  if (!given.equals(content)) throw new Error('it gives other bytes than it was given');
  await place.remove(probeKey);
}

export const storageChecks: readonly Check[] = [
  {
    name: 'storage',
    async look({ app }) {
      const { driver, s3 } = app.config.storage;
      if (driver === 'database') return ok('files lie in the database');
      const where = driver === 's3' ? `the bucket ${s3.bucket}` : `${app.config.dataDir}/blobs`;
      try {
        await probe(await placeOf(app, driver), Buffer.from(app.random.bytes(probeBytes)));
      } catch (error) {
        const remedy =
          driver === 's3'
            ? 'Let the access key put, read and delete objects of the bucket; until then large mail is refused.'
            : 'Let the user of the daemon write there; until then large mail is refused.';
        const command = 'svc config show';
        return fail(`${where} does not keep files: ${messageOf(error)}`, remedy, command);
      }
      if (driver === 'filesystem' && (await selectDaemons(app.store.db)).length > 1) {
        const remedy =
          'Let all daemons have the same folder by a shared file system, or move the files to a bucket.';
        return warn(`several daemons keep files in ${where}`, remedy, 'svc storage move --to s3');
      }
      return ok(`large files go to ${where}`);
    },
  },
];

// What an error from PostgreSQL means: known by its SQLSTATE, or by coming from the driver instead of
// the server; never by its words, which may quote anybody's.
import pg from 'pg';
import { CapacityError } from '../errors.ts';

/** Connection, rollback by the server, resources, operator's intervention, its system. */
const troubleClasses = ['08', '40', '53', '57', '58'];
const troubleStates = [
  // Read-only: a standby, or a server that was one until now.
  '25006',
  // A transaction or a wait for a lock took too long.
  '25P03',
  '25P04',
  '55P03',
  // Damaged rows, a damaged index.
  'XX001',
  'XX002',
];
/** Ended for the sake of another transaction: serialization failure, deadlock. */
const rerunStates = ['40001', '40P01'];

function isTrouble(state: string): boolean {
  return troubleClasses.includes(state.slice(0, 2)) || troubleStates.includes(state);
}

/**
 * An error of a statement as the service sees it: CapacityError where the server or the way to it is
 * in trouble; what is wrong with the statement stays what it is.
 */
export function statementError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError) {
    return isTrouble(error.code ?? '') ? inTrouble(error) : error;
  }
  // A value that no statement can carry is a fault of ours, found before anything is sent.
  if (error instanceof TypeError || error instanceof RangeError) return error;
  return inTrouble(error);
}

/** No connection came about, for whatever reason. */
export function connectionError(error: unknown): CapacityError {
  return inTrouble(error);
}

function inTrouble(error: unknown): CapacityError {
  return new CapacityError(`The store cannot be used now (${reasonOf(error)})`, 1, {
    cause: error,
  });
}

/** An error that tells of several addresses has no words of its own. */
export function reasonOf(error: unknown): string {
  const { message, code } = error as { message?: string; code?: string };
  return message || code || String(error);
}

/** Whether the same transaction may well succeed if it is run again. */
export function isRerunnable(error: unknown): boolean {
  const cause = error instanceof CapacityError ? error.cause : undefined;
  return cause instanceof pg.DatabaseError && rerunStates.includes(cause.code ?? '');
}

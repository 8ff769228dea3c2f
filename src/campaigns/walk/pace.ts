// The pace of a run: places in the window of its sending domain.
import { lockRunPlaces, runPlaces, takeRunPlaces } from '../../identity/warming/run-places.ts';

/** Places of a run, before its transaction and in it. */
export const places = { look: runPlaces, lock: lockRunPlaces, take: takeRunPlaces };

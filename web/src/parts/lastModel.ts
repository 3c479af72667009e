import { Stored } from './stored';

/** The model that was chosen last in this browser. */
export const lastModel = new Stored<string | null>('antiphon.model', null);

import { join } from 'node:path';

/** The folder of the Python scripts. What runs is in one folder with it, whichever file it comes from. */
export const driverFolder = join(import.meta.dirname, 'driver');

/** Path of a Python script. */
export const driverScript = (name: string): string => join(driverFolder, name);

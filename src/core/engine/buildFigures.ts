/** Figures of a build that its layers do not show. null: not known. */
export interface BuildFigures {
  /** Name of the GPU. */
  gpu: string | null;
  /** Bytes. */
  activationMemory: number | null;
  /** Bytes. */
  weightsMemory: number | null;
  /** Bytes. */
  engineSize: number | null;
  /** Seconds that the build took. */
  buildSeconds: number | null;
  /** Warnings in the build log. */
  warnings: number | null;
}

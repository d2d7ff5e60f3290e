"""The stages of the job, one a file: all there is to know about each."""

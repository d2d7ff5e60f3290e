"""The hospital's side: report exports in, feedback pages out; everything that touches a disk."""

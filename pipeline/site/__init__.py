"""A site's configuration turned into its instruments."""

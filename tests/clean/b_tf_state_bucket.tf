variable "name" { type = string }

resource "aws_s3_bucket" "models" {
  bucket_prefix = "${var.name}-models-"
}

resource "aws_s3_bucket_versioning" "models" {
  bucket = aws_s3_bucket.models.id
  versioning_configuration { status = "Enabled" }
}

resource "aws_s3_bucket" "access_logs" {
  bucket_prefix = "${var.name}-access-logs-"
}

resource "aws_ecr_repository" "server" {
  name                 = "${var.name}/server"
  image_tag_mutability = "IMMUTABLE"
  image_scanning_configuration { scan_on_push = true }
}

resource "aws_security_group" "redis" {
  name = "${var.name}-redis"
}

resource "aws_security_group_rule" "redis_from_app" {
  type                     = "ingress"
  security_group_id        = aws_security_group.redis.id
  source_security_group_id = "sg-0123456789abcdef0"
  from_port                = 6379
  to_port                  = 6379
  protocol                 = "tcp"
}

resource "aws_budgets_budget" "gpu" {
  name         = "${var.name}-gpu"
  budget_type  = "COST"
  limit_amount = "10000"
  limit_unit   = "USD"
  time_unit    = "MONTHLY"
  notification {
    comparison_operator        = "GREATER_THAN"
    threshold                  = 80
    threshold_type             = "PERCENTAGE"
    notification_type          = "FORECASTED"
    subscriber_email_addresses = ["ml-platform@example.com"]
  }
}

resource "aws_cloudtrail" "all" {
  name                          = var.name
  s3_bucket_name                = aws_s3_bucket.access_logs.id
  is_multi_region_trail         = true
  include_global_service_events = true
  enable_log_file_validation    = true
}
